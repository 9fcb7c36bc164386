import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createScratchFolder } from '../support/runtime-folders.js';

/** A private folder (mode 0700) for one evaluation, made when first needed and removed at the end. */
export class ScratchFolder implements AsyncDisposable {
  private folder: string | undefined;
  private files = 0;

  /** A path in the folder that no other caller was given. */
  async newPath(): Promise<string> {
    this.folder ??= await createScratchFolder('evaluation');
    this.files += 1;
    return join(this.folder, String(this.files));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }
}
