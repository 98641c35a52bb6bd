
# What MRI's collector has done by now, whenever it is asked: before and after each load. The thread waits for that in the kernel,
# without the lock that Ruby code runs under, and does not wake in between.
begin
  if target && !target.empty? && RUBY_ENGINE == 'ruby'
    names = %i[count major_gc_count total_allocated_objects]
    numbers = lambda do
      # Not before 3.1, nor where the program has it turned off: it would stand still.
      timed = GC.respond_to?(:measure_total_time) && GC.measure_total_time
      (timed ? [*names, :time] : names).map { |name| quote.(name) + ':' + GC.stat(name).to_s }
    end
    when_asked << lambda do
      begin
        # Whoever asks opens the other end through /proc. The program may close descriptors by their numbers, and have files of its own
        # there later: the pipe's name is written with the number, and neither end is ever closed here.
        ends = IO.pipe
        ends.each { |one| one.autoclose = false }
        asks, other_end = ends
        listener = Thread.new do
          begin
            # A question is a byte, and its answer has the same number. No method that reads lines: those know `$/` and set `$.`.
            while (question = asks.getbyte)
              write.('.gc', quote.('question') + ':' + question.to_s + ',' + numbers.().join(','))
            end
          rescue Exception # rubocop:disable Lint/RescueException: as below
            nil
          end
        end
        listener.name = 'bakeoff'
        pipe = File.readlink("/proc/self/fd/#{other_end.fileno}")
        write.('.asks', '"descriptor":' + other_end.fileno.to_s + ',"pipe":' + quote.(pipe))
        listener.report_on_exception = false
      rescue Exception # rubocop:disable Lint/RescueException: as below
        nil
      end
    end
  end
rescue Exception # rubocop:disable Lint/RescueException: whatever goes wrong here is not the application's business
  nil
end
