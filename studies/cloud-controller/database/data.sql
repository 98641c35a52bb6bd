-- 1,000 organisations with 50,000 spaces, 5,001 users and their roles. What looks random is a hash of what it belongs to: the same on every machine.

create function pg_temp.guid(text) returns text language sql as 'select md5($1)::uuid::text';

-- Ten sizes in turn, 500 spaces in all: half of the organisations have 50 to 85.
create function pg_temp.size(integer) returns integer language sql
    as 'select (array[20, 25, 30, 40, 45, 50, 60, 65, 80, 85])[1 + $1 % 10]';

insert into organizations
select number, pg_temp.guid('organization ' || number), 'organization-' || to_char(number, 'FM0000'), 'active',
    timestamptz '2014-01-01 00:00:00Z' + number * interval '11 hours', timestamptz '2016-01-01 00:00:00Z' + number * interval '13 minutes'
from generate_series(1, 1000) number;

-- Of each organisation a manager, a developer, an auditor, a member of two of these kinds and one without any role; before them the administrator.
create temporary table people as
select 1 + (organization - 1) * 5 + kind as id, organization, kind,
    (array['manager', 'developer', 'auditor', 'helper', 'member'])[kind] || '-' || to_char(organization, 'FM0000') as username
from generate_series(1, 1000) organization, generate_series(1, 5) kind;

-- UAA hashes passwords by bcrypt; log-in is not measured here, and all have the same.
insert into users
select id, pg_temp.guid('user ' || id), username, md5('salt ' || id), encode(sha256(convert_to(md5('salt ' || id) || 'spaces', 'UTF8')), 'hex'), id = 1
from (select 1, 'admin' union all select id + 1, username from people) person (id, username);

insert into organizations_users select organization, id + 1 from people;

insert into space_quota_definitions
select (organization - 1) * 3 + number, pg_temp.guid('quota ' || organization || ' ' || number), (array['small', 'medium', 'large'])[number], organization
from generate_series(1, 1000) organization, generate_series(1, 3) number;

-- Spaces of all organisations come into being all mixed up, so that those of one lie scattered over the table.
create temporary table places as
select row_number() over (order by md5(organization || ' ' || nth)) as space, organization, nth, pg_temp.size(organization) as size
from generate_series(1, 1000) organization cross join lateral generate_series(1, pg_temp.size(organization)) nth;

insert into spaces
select space, pg_temp.guid('space ' || space), 'space-' || to_char(nth, 'FM000'), organization,
    case when nth % 4 > 0 then (organization - 1) * 3 + nth % 4 end, nth % 7 > 0,
    timestamptz '2016-02-01 00:00:00Z' + space * interval '17 minutes',
    case when nth % 3 > 0 then timestamptz '2018-02-01 00:00:00Z' + space * interval '3 minutes' end
from places;

-- The manager manages all spaces; the developer develops the first 70 % and audits those from 50 to 88 %; the auditor audits every other
-- one; the helper develops a third and manages a fifth.
insert into spaces_managers
select space, id + 1 from places join people using (organization) where kind = 1 or kind = 4 and nth % 5 = 0;

insert into spaces_developers
select space, id + 1 from places join people using (organization)
where kind = 2 and nth <= 0.7 * size or kind = 4 and nth % 3 = 0;

insert into spaces_auditors
select space, id + 1 from places join people using (organization)
where kind = 2 and nth between 0.5 * size and 0.88 * size or kind = 3 and nth % 2 = 0;

vacuum analyze;

checkpoint;

