select 'PSYN' || lpad(cast(n as varchar), 2, '0') as provider_id from range(1, 21) providers(n)
