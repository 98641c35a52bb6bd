create role killbill login;

grant all on all tables in schema public to killbill;

grant all on all sequences in schema public to killbill;

grant all on schema public to killbill;
