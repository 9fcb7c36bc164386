select hospitalid, pick(['<100', '100 - 249', '250 - 499', '>= 500'], 'beds', hospitalid) as numbedscategory,
  u('teaching', hospitalid) < 0.2 as teachingstatus, pick(['Midwest', 'South', 'West', 'Northeast'], 'region', hospitalid) as region
from (select distinct hospitalid from unit)
