// Writes a small made-up OMOP data set as CSV files: node generate.mjs DIR
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? 'omop-data';
const creatinine = 3016723;
const potassium = 3023103;
const milligrams = 8840; // mg/dL
const micromoles = 8749; // umol/L
const inpatient = 9201;
const outpatient = 9202;

/** The same numbers in every run (linear congruential generator of Numerical Recipes). */
let state = 2026;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const stamp = (hours) =>
  new Date(Date.UTC(2150, 0, 1) + hours * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

const persons = [];
const visits = [];
const measurements = [];
for (let person = 1; person <= 80; person += 1) {
  persons.push([person, random() < 0.5 ? 8507 : 8532, 2080 + Math.floor(random() * 50)]);
  for (let visit = 0; visit < 1 + Math.floor(random() * 3); visit += 1) {
    const id = person * 10 + visit;
    const start = Math.floor(random() * 20_000);
    const hours = 24 + Math.floor(random() * 240);
    visits.push([id, person, random() < 0.75 ? inpatient : outpatient, stamp(start), stamp(start + hours)]);
    const baseline = 0.6 + random() * 0.8;
    const worst = 1 + random() ** 3 * 3.5;
    const usesMicromoles = random() < 0.2;
    for (let taken = 0; taken < Math.floor(random() * 6); taken += 1) {
      const value = baseline * (taken === 0 ? 1 : 1 + (worst - 1) * random());
      measurements.push([
        measurements.length + 1,
        person,
        id,
        creatinine,
        stamp(start + (taken + random()) * (hours / 6)),
        (usesMicromoles ? value * 88.4 : value).toFixed(2),
        usesMicromoles ? micromoles : milligrams,
      ]);
    }
    measurements.push([
      measurements.length + 1,
      person,
      id,
      potassium,
      stamp(start + 1),
      (3 + random() * 2).toFixed(1),
      8753,
    ]);
  }
}

const tables = {
  person: ['person_id,gender_concept_id,year_of_birth', persons],
  visit_occurrence: [
    'visit_occurrence_id,person_id,visit_concept_id,visit_start_datetime,visit_end_datetime',
    visits,
  ],
  measurement: [
    'measurement_id,person_id,visit_occurrence_id,measurement_concept_id,measurement_datetime,value_as_number,unit_concept_id',
    measurements,
  ],
  creatinine_rise: ['visit_occurrence_id,peak,stage', visits.slice(0, 20).map(([id]) => [id, 1, 0])],
};
mkdirSync(folder, { recursive: true });
for (const [name, [header, rows]] of Object.entries(tables)) {
  writeFileSync(
    join(folder, `${name}.csv`),
    [header, ...rows.map((row) => row.join(','))].join('\n').concat('\n'),
  );
}
console.log(
  `${persons.length} persons, ${visits.length} visits, ${measurements.length} measurements in ${folder}`,
);
