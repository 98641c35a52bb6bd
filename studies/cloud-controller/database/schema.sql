-- In single-user mode a statement ends with a semicolon and an empty line.
create extension pg_stat_statements;

create table users (
    id integer primary key,
    guid text not null unique,
    username text not null unique,
    salt text not null,
    password_digest text not null,
    admin boolean not null default false
);

create table organizations (
    id integer primary key,
    guid text not null unique,
    name text not null unique,
    status text not null,
    created_at timestamptz not null,
    updated_at timestamptz
);

create table organizations_users (
    organization_id integer not null references organizations,
    user_id integer not null references users,
    primary key (organization_id, user_id)
);

create index on organizations_users (user_id);

create table space_quota_definitions (
    id integer primary key,
    guid text not null unique,
    name text not null,
    organization_id integer not null references organizations
);

create table spaces (
    id integer primary key,
    guid text not null unique,
    name text not null,
    organization_id integer not null references organizations,
    space_quota_definition_id integer references space_quota_definitions,
    allow_ssh boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz,
    unique (organization_id, name)
);

create table spaces_developers (
    space_id integer not null references spaces,
    user_id integer not null references users,
    primary key (space_id, user_id)
);

create table spaces_managers (
    space_id integer not null references spaces,
    user_id integer not null references users,
    primary key (space_id, user_id)
);

create table spaces_auditors (
    space_id integer not null references spaces,
    user_id integer not null references users,
    primary key (space_id, user_id)
);

create index on spaces_developers (user_id);

create index on spaces_managers (user_id);

create index on spaces_auditors (user_id);

create role cloud_controller login;

grant select on all tables in schema public to cloud_controller;

