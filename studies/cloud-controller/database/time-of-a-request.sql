-- Milliseconds that PostgreSQL spent on a request for spaces, in the mean over this launch: on the statements that each request has once,
-- as against those of log-in and start-up, which are far fewer.
with requests as (select sum(calls) as number from pg_stat_statements where query like 'SELECT * FROM "spaces" %')
select round(sum(mean_exec_time)::numeric, 3) from pg_stat_statements, requests where calls > number / 2;
