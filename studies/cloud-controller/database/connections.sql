-- Connections that the application has open, of all its processes.
select count(*) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid();
