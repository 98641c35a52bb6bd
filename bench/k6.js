// What k6 is asked to do; peers.py says what with.
import { check } from 'k6';
import http from 'k6/http';

const { URL, CONNECTIONS, SECONDS, RATE, BODY } = __ENV;
const closed = { executor: 'constant-vus', vus: Number(CONNECTIONS), duration: `${SECONDS}s`, gracefulStop: '0s' };
const open = {
  executor: 'constant-arrival-rate',
  rate: Number(RATE),
  timeUnit: '1s',
  duration: `${SECONDS}s`,
  preAllocatedVUs: Number(CONNECTIONS),
};

export const options = {
  scenarios: { load: RATE ? open : closed },
  summaryTrendStats: ['p(50)', 'p(90)', 'p(99)'],
};

export default function () {
  check(http.get(URL), { good: (answer) => answer.status === 200 && answer.body.length === Number(BODY) });
}

export function handleSummary({ metrics }) {
  const times = metrics.http_req_duration.values;
  const checks = metrics.checks.values;
  const told = {
    good: checks.passes,
    bad: checks.fails,
    bytes: metrics.data_received.values.count,
    dropped: metrics.dropped_iterations ? metrics.dropped_iterations.values.count : 0,
    times_us: Object.fromEntries([50, 90, 99].map((q) => [`p${q}`, times[`p(${q})`] * 1e3])),
  };
  return { stdout: JSON.stringify(told) };
}
