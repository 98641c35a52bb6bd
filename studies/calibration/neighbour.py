"""A neighbour who comes and goes at random: one to four processes that work, for times of 20 s in the mean, with rests of 20 s in the mean.

    neighbour.py SEED                     until its parent ends it, or ends

Its times are exponentially distributed and capped at a minute. Each process sorts numbers, which takes a processor and some of its cache.
"""

import multiprocessing
import os
import random
import sys
import time

MEAN_S, LONGEST_S, PROCESSES = 20, 60, 4


def work(parent, stop):
    rng = random.Random(0)
    numbers = [rng.random() for _ in range(100_000)]
    while not stop.is_set() and os.getppid() == parent:
        sorted(numbers)


def nap(seconds, parent):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.getppid() != parent:
            sys.exit()
        time.sleep(0.2)


def main():
    rng, parent = random.Random(int(sys.argv[1])), os.getppid()
    while True:
        lengths = [min(rng.expovariate(1 / MEAN_S), LONGEST_S) for _ in range(2)]
        stop = multiprocessing.Event()
        workers = [multiprocessing.Process(target=work, args=(os.getpid(), stop)) for _ in range(rng.randint(1, PROCESSES))]
        for worker in workers:
            worker.start()
        try:
            nap(lengths[0], parent)
        finally:
            stop.set()
            for worker in workers:
                worker.join()
        nap(lengths[1], parent)


if __name__ == "__main__":
    main()
