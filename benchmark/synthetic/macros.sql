-- Everything random is a hash of (seed, purpose, key): the same on every machine, for any number of threads, and
-- independent of how many other values are drawn. MD5 is used because its result never changes between engines.
create or replace macro u(purpose, key) as
  cast(md5_number_lower(getvariable('seed') || '|' || purpose || '|' || cast(key as varchar)) >> 11 as double) / 9007199254740992.0;
create or replace macro bits(purpose, key) as md5_number_lower(getvariable('seed') || '|' || purpose || '|' || cast(key as varchar));
-- Nearly normal with mean 0 and standard deviation 1 (sum of four uniforms), within 3.46: no libm, so exact everywhere.
create or replace macro z(purpose, key) as
  (cast((bits('z ' || purpose, key) & 65535) + ((bits('z ' || purpose, key) >> 16) & 65535)
    + ((bits('z ' || purpose, key) >> 32) & 65535) + (bits('z ' || purpose, key) >> 48) as double) / 65536.0 - 2) * 1.7320508;
create or replace macro pick(options, purpose, key) as options[1 + cast(floor(len(options) * u(purpose, key)) as integer)];
create or replace macro clip(x, low, high) as greatest(low, least(high, x));
-- A number as charted: no trailing zeros.
create or replace macro shortest(x) as case when x = floor(x) then cast(cast(x as bigint) as varchar) else cast(x as varchar) end;
