import { writeGeneratedPages } from './generate.js';

await writeGeneratedPages();
