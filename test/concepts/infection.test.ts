import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, columns, type GivenRow, TinyDatabase } from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const antibiotic = (starttime: string | null, changes: GivenRow = {}): GivenRow => ({
  subject_id: 1,
  hadm_id: 10,
  stay_id: 100,
  antibiotic: 'Vancomycin',
  route: 'IV',
  starttime,
  stoptime: after('200:00'),
  ...changes,
});
/** Midnight of a day is its date. */
const culture = (charttime: string | null, changes: GivenRow = {}): GivenRow => ({
  subject_id: 1,
  micro_specimen_id: 1,
  chartdate: charttime === null ? '2150-01-02 00:00:00' : `${charttime.slice(0, 10)} 00:00:00`,
  charttime,
  spec_type_desc: 'BLOOD CULTURE',
  ...changes,
});

for (const table of ['suspicion_of_infection', 'suspicion-infection'] as const) {
  const suspicion = (antibiotics: readonly GivenRow[], cultures: readonly GivenRow[]) => {
    const given = { 'mimiciv_derived.antibiotic': antibiotics, 'mimiciv_hosp.microbiologyevents': cultures };
    return table === 'suspicion-infection'
      ? database.reference(table, given)
      : database.concept(table, given);
  };
  const timesOf = async (antibioticTime: string | null, ...cultures: readonly GivenRow[]) =>
    columns(
      await suspicion([antibiotic(antibioticTime)], cultures),
      'suspected_infection',
      'suspected_infection_time',
      'culture_time',
    )[0];
  const none = [0, null, null];

  describe(`suspected infection, ${table}`, () => {
    test('a timed culture counts up to exactly 72 hours before the antibiotic', async () => {
      const time = after('80:00');
      expect(await timesOf(time, culture(after('8:00')))).toEqual([1, after('8:00'), after('8:00')]);
      expect(await timesOf(time, culture(after('7:59:59')))).toEqual(none);
    });

    test('a timed culture counts up to exactly 24 hours after the antibiotic, whose time is then the onset', async () => {
      const time = after('10:00');
      expect(await timesOf(time, culture(after('34:00')))).toEqual([1, time, after('34:00')]);
      expect(await timesOf(time, culture(after('34:00:01')))).toEqual(none);
    });

    test('a timed culture at exactly the time of the antibiotic counts neither way', async () => {
      expect(await timesOf(after('10:00'), culture(after('10:00')))).toEqual(none);
    });

    test('a dated culture counts from 3 days before to 1 day after; the same day counts as before', async () => {
      const dated = (day: string) => culture(null, { chartdate: `${day} 00:00:00` });
      const time = '2150-01-05 15:00:00';
      expect(await timesOf(time, dated('2150-01-02'))).toEqual([
        1,
        '2150-01-02 00:00:00',
        '2150-01-02 00:00:00',
      ]);
      expect(await timesOf(time, dated('2150-01-01'))).toEqual(none);
      expect(await timesOf(time, dated('2150-01-05'))).toEqual([
        1,
        '2150-01-05 00:00:00',
        '2150-01-05 00:00:00',
      ]);
      expect(await timesOf(time, dated('2150-01-06'))).toEqual([1, time, '2150-01-06 00:00:00']);
      expect(await timesOf(time, dated('2150-01-07'))).toEqual(none);
    });

    test('the earliest culture before is kept, not the nearest, and wins over one after', async () => {
      const rows = await timesOf(
        after('50:00'),
        culture(after('40:00'), { micro_specimen_id: 1 }),
        culture(after('5:00'), { micro_specimen_id: 2 }),
        culture(after('51:00'), { micro_specimen_id: 3 }),
      );
      expect(rows).toEqual([1, after('5:00'), after('5:00')]);
    });

    test('a culture without a specimen text gives no suspicion, but shows its time and result', async () => {
      const rows = await suspicion(
        [antibiotic(after('10:00'))],
        [culture(after('9:00'), { spec_type_desc: null, org_name: 'ESCHERICHIA COLI', org_itemid: 80002 })],
      );
      expect(
        columns(rows, 'suspected_infection', 'suspected_infection_time', 'culture_time', 'positive_culture'),
      ).toEqual([[0, null, after('9:00'), 1]]);
    });

    test('positive is an organism with a name and a number other than 90856', async () => {
      const positive = async (...organisms: readonly GivenRow[]) =>
        (
          await suspicion(
            [antibiotic(after('10:00'))],
            organisms.map((organism) => culture(after('9:00'), organism)),
          )
        )[0]!.positive_culture;
      const coli = { org_name: 'ESCHERICHIA COLI', org_itemid: 80002 };
      expect(await positive(coli)).toBe(1);
      expect(await positive({ ...coli, org_itemid: 90856 })).toBe(0);
      expect(await positive({ ...coli, org_itemid: null })).toBe(0);
      expect(await positive({ org_name: '', org_itemid: 80002 })).toBe(0);
      expect(await positive({ org_name: null, org_itemid: 80002 })).toBe(0);
      // one positive row makes the specimen positive
      expect(await positive({ ...coli, org_itemid: 90856 }, coli)).toBe(1);
    });

    test('cultures go by patient, and an antibiotic without a time has none', async () => {
      expect(await timesOf(after('10:00'), culture(after('9:00'), { subject_id: 2 }))).toEqual(none);
      expect(await timesOf(after('10:00'), culture(after('9:00'), { hadm_id: 999 }))).toEqual([
        1,
        after('9:00'),
        after('9:00'),
      ]);
      expect(await timesOf(null, culture(after('9:00')))).toEqual(none);
    });

    test('antibiotics are numbered by start, stop and name, missing first, ties by admission and stay', async () => {
      const rows = await suspicion(
        [
          antibiotic(after('5:00'), { antibiotic: 'Cefepime' }),
          antibiotic(after('5:00'), { antibiotic: 'Cefepime', stay_id: null }),
          antibiotic(after('5:00'), { antibiotic: 'Aztreonam' }),
          antibiotic(after('5:00'), { antibiotic: 'Zosyn', stoptime: null }),
          antibiotic(null),
          antibiotic(after('9:00'), { subject_id: 2 }),
        ],
        [],
      );
      expect(columns(rows, 'subject_id', 'ab_id', 'antibiotic', 'stay_id')).toEqual([
        [1, 1, 'Vancomycin', 100],
        [1, 2, 'Zosyn', 100],
        [1, 3, 'Aztreonam', 100],
        [1, 4, 'Cefepime', null],
        [1, 5, 'Cefepime', 100],
        [2, 1, 'Vancomycin', 100],
      ]);
    });

    test('on one date the concept prefers a timed culture, the reference a dated one', async () => {
      const rows = await timesOf(
        '2150-01-05 15:00:00',
        culture('2150-01-04 09:00:00', { micro_specimen_id: 1 }),
        culture(null, { micro_specimen_id: 2, chartdate: '2150-01-04 00:00:00' }),
      );
      const kept = table === 'suspicion-infection' ? '2150-01-04 00:00:00' : '2150-01-04 09:00:00';
      expect(rows).toEqual([1, kept, kept]);
    });
  });
}
