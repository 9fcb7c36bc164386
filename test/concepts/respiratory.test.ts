import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  after,
  charted,
  chartedText,
  column,
  columns,
  type GivenRow,
  icuAdmission,
  TinyDatabase,
} from './fixture.js';

let database: TinyDatabase;
beforeAll(async () => {
  database = await TinyDatabase.open();
});
afterAll(() => database[Symbol.asyncDispose]());

const at = icuAdmission;
const fromChart = (table: string, ...chartevents: readonly GivenRow[]) =>
  database.concept(table, { 'mimiciv_icu.chartevents': chartevents });

describe('oxygen delivery', () => {
  const [flow, bipapFlow, additionalFlow, device] = [223834, 227582, 227287, 226732];

  test('a device counts only at a time at which a flow was charted', async () => {
    const rows = await fromChart(
      'oxygen_delivery',
      charted(flow, at, 2),
      chartedText(device, at, 'Nasal cannula'),
      chartedText(device, after('1:00'), 'Face tent'),
    );
    expect(columns(rows, 'charttime', 'o2_flow', 'o2_delivery_device_1')).toEqual([[at, 2, 'Nasal cannula']]);
  });

  test('devices are numbered alphabetically, a missing one first, and a fifth is dropped', async () => {
    const devices = ['Venti mask ', 'Nasal cannula', null, 'Face tent', 'Aerosol-cool'];
    const [row] = await fromChart(
      'oxygen_delivery',
      charted(flow, at, 2),
      ...devices.map((name) => chartedText(device, at, name)),
    );
    expect(
      columns(
        [row!],
        'o2_delivery_device_1',
        'o2_delivery_device_2',
        'o2_delivery_device_3',
        'o2_delivery_device_4',
      ),
    ).toEqual([[null, 'Aerosol-cool', 'Face tent', 'Nasal cannula']]);
  });

  test('of repeated flows the one stored last counts, one without a store time last of all; BiPAP flow is a flow', async () => {
    const rows = await fromChart(
      'oxygen_delivery',
      charted(flow, at, 6, { storetime: after('0:10') }),
      charted(bipapFlow, at, 4, { storetime: after('0:20') }),
      charted(flow, at, 15, { storetime: null }),
      charted(additionalFlow, at, 1),
    );
    expect(columns(rows, 'o2_flow', 'o2_flow_additional')).toEqual([[4, 1]]);
  });

  test('a flow needs a text, not a number; the stay may be missing', async () => {
    const rows = await fromChart(
      'oxygen_delivery',
      charted(flow, at, 3, { value: null }),
      chartedText(flow, after('1:00'), 'high', { stay_id: null }),
    );
    expect(columns(rows, 'charttime', 'stay_id', 'o2_flow')).toEqual([[after('1:00'), null, null]]);
  });
});

describe('ventilator settings', () => {
  test('FiO2: 0.20 to 1 is a fraction, 20 to 100 a percentage, anything else is dropped', async () => {
    const given = [0.2, 0.19, 1, 1.01, 19.9, 20, 100, 101];
    for (const [index, value] of given.entries()) {
      const [row] = await fromChart('ventilator_setting', charted(223835, at, value));
      expect(row!.fio2, String(value)).toBe([20, null, 100, null, null, 20, 100, null][index]);
    }
    // 0.55 x 100 in floating point, on purpose not rounded
    expect(column(await fromChart('ventilator_setting', charted(223835, at, 0.55)), 'fio2')).toEqual([
      0.55 * 100,
    ]);
  });

  test('PEEP of 0 and 100 counts, beyond it is dropped; set and total PEEP share a column', async () => {
    const [row] = await fromChart('ventilator_setting', charted(220339, at, 5), charted(224700, at, 8));
    expect(row!.peep).toBe(8);
    const given = [0, 100, -1, 101];
    for (const [index, value] of given.entries()) {
      const [limit] = await fromChart('ventilator_setting', charted(220339, at, value));
      expect(limit!.peep).toBe([0, 100, null, null][index]);
    }
  });

  test('an entry needs a text and an ICU stay; a row remains though its values were dropped', async () => {
    const rows = await fromChart(
      'ventilator_setting',
      charted(224684, at, 450, { value: null }),
      charted(224684, after('1:00'), 450, { stay_id: null }),
      charted(223835, after('2:00'), 5),
    );
    expect(columns(rows, 'charttime', 'fio2', 'tidal_volume_set')).toEqual([[after('2:00'), null, null]]);
  });
});

describe('ventilation', () => {
  const episodes = (given: {
    readonly modes?: readonly (readonly [time: string, mode: string | null, hamilton?: string | undefined])[];
    readonly devices?: readonly (readonly [time: string, device: string | null])[];
  }) =>
    database.concept('ventilation', {
      'mimiciv_derived.ventilator_setting': (given.modes ?? []).map(([time, mode, hamilton]) => ({
        subject_id: 1,
        stay_id: 100,
        charttime: after(time),
        ventilator_mode: mode,
        ventilator_mode_hamilton: hamilton ?? null,
      })),
      'mimiciv_derived.oxygen_delivery': (given.devices ?? []).map(([time, device]) => ({
        subject_id: 1,
        stay_id: 100,
        charttime: after(time),
        o2_delivery_device_1: device,
      })),
    });
  const spans = (rows: readonly Readonly<Record<string, unknown>>[]) =>
    rows.map((row) => [row.starttime, row.endtime, row.ventilation_status]);

  test('an episode ends at the first time of the next one', async () => {
    const rows = await episodes({
      modes: [
        ['0:00', 'CMV/ASSIST'],
        ['4:00', 'CMV/ASSIST'],
      ],
      devices: [
        ['6:00', 'Nasal cannula'],
        ['8:00', 'Nasal cannula'],
      ],
    });
    expect(spans(rows)).toEqual([
      [after('0:00'), after('6:00'), 'InvasiveVent'],
      [after('6:00'), after('8:00'), 'SupplementalOxygen'],
    ]);
  });

  test('a gap of exactly 14 hours splits an episode, a second less does not', async () => {
    const split = await episodes({
      modes: [
        ['0:00', 'SIMV'],
        ['1:00', 'SIMV'],
        ['15:00', 'SIMV'],
        ['16:00', 'SIMV'],
      ],
    });
    expect(spans(split)).toEqual([
      [after('0:00'), after('1:00'), 'InvasiveVent'],
      [after('15:00'), after('16:00'), 'InvasiveVent'],
    ]);
    const whole = await episodes({
      modes: [
        ['0:00', 'SIMV'],
        ['1:00', 'SIMV'],
        ['14:59:59', 'SIMV'],
      ],
    });
    expect(spans(whole)).toEqual([[after('0:00'), after('14:59:59'), 'InvasiveVent']]);
  });

  test('an episode charted at a single time is dropped and its neighbours are not joined', async () => {
    const rows = await episodes({
      modes: [
        ['0:00', 'SIMV'],
        ['1:00', 'SIMV'],
        ['3:00', 'SIMV'],
        ['4:00', 'SIMV'],
      ],
      devices: [['2:00', 'Nasal cannula']],
    });
    expect(spans(rows)).toEqual([
      [after('0:00'), after('2:00'), 'InvasiveVent'],
      [after('3:00'), after('4:00'), 'InvasiveVent'],
    ]);
  });

  test('classes by device, mode and Hamilton mode, in order of precedence', async () => {
    const classOf = async (device: string | null, mode: string | null = null, hamilton?: string) => {
      const times = ['0:00', '1:00'] as const;
      const rows = await episodes({
        modes: times.map((time) => [time, mode, hamilton] as const),
        devices: times.map((time) => [time, device] as const),
      });
      return rows[0]?.ventilation_status;
    };
    expect(await classOf('Tracheostomy tube', 'CMV')).toBe('Tracheostomy');
    expect(await classOf('Trach mask ')).toBe('Tracheostomy');
    expect(await classOf('Trach mask')).toBeUndefined(); // the blank belongs to the text
    expect(await classOf('Endotracheal tube')).toBe('InvasiveVent');
    expect(await classOf('Nasal cannula', 'PSV/SBT')).toBe('InvasiveVent');
    expect(await classOf(null, null, 'ASV')).toBe('InvasiveVent');
    expect(await classOf('Bipap mask ')).toBe('NonInvasiveVent');
    expect(await classOf('High flow nasal cannula', null, 'NIV-ST')).toBe('NonInvasiveVent');
    expect(await classOf('High flow nasal cannula')).toBe('HFNC');
    expect(await classOf('Non-rebreather')).toBe('SupplementalOxygen');
    expect(await classOf('None')).toBe('None');
    expect(await classOf('None', 'Standby')).toBe('None'); // Standby is no mode of either list
    expect(await classOf(null, 'SPONT')).toBeUndefined();
  });

  test('times without a class do not separate an episode', async () => {
    const rows = await episodes({
      modes: [
        ['0:00', 'SIMV'],
        ['1:00', 'Standby'],
        ['2:00', 'SIMV'],
      ],
    });
    expect(spans(rows)).toEqual([[after('0:00'), after('2:00'), 'InvasiveVent']]);
  });

  test('an episode taken up again within 14 hours of its own last charting is a new one all the same', async () => {
    const rows = await episodes({
      modes: [
        ['0:00', 'SIMV'],
        ['1:00', 'SIMV'],
        ['5:00', 'SIMV'],
        ['6:00', 'SIMV'],
      ],
      devices: [
        ['2:00', 'Nasal cannula'],
        ['3:00', 'Nasal cannula'],
      ],
    });
    expect(spans(rows).map(([, , status]) => status)).toEqual([
      'InvasiveVent',
      'SupplementalOxygen',
      'InvasiveVent',
    ]);
  });

  test('the last time of an episode before a gap of 14 hours ends it there', async () => {
    const rows = await episodes({
      modes: [
        ['0:00', 'SIMV'],
        ['1:00', 'SIMV'],
      ],
      devices: [
        ['15:00', 'Nasal cannula'],
        ['16:00', 'Nasal cannula'],
      ],
    });
    expect(spans(rows)).toEqual([
      [after('0:00'), after('1:00'), 'InvasiveVent'],
      [after('15:00'), after('16:00'), 'SupplementalOxygen'],
    ]);
  });
});
