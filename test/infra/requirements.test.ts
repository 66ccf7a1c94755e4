import { describe, expect, test } from 'vitest';
import { readRequirements } from '../../infra/code/requirements.ts';
import { aFolder } from '../support/a-folder.ts';

const PLAIN = `# what the handler needs
flask[async]>=3 ; python_version > "3.8"  # or/and newer
zope.interface
numpy==2.1.0 \\
    --hash=sha256:0123
--extra-index-url https://wheels.example/cpu
lib @ https://files.example/lib-1.0-py3-none-any.whl
-e git+https://git.example/lib.git@main#egg=lib
-r https://files.example/base.txt
--only-binary :all:
`;

describe('requirements.txt', () => {
  test('is optional', () => {
    expect(readRequirements(aFolder({}))).toEqual({ kind: 'none' });
  });

  test('is the only file that pip reads if it lists only remote packages', () => {
    expect(readRequirements(aFolder({ 'requirements.txt': PLAIN }))).toEqual({ kind: 'one-file' });
  });

  test.each([
    '-r other.txt',
    '-rother.txt',
    '--requirement=other.txt',
    '-c other.txt # not newer',
    '--constraint other.txt',
    '-r "other.txt"',
    '-e .',
    '-e ./pkg',
    '--editable=pkg[dev]',
    './pkg',
    'pkg/ ; python_version > "3"',
    './pkg[dev,test]',
    'lib-1.0-py3-none-any.whl --hash=sha256:0123',
    '-f pkg',
  ])('refers to local files: %s', (line) => {
    const folder = aFolder({
      'requirements.txt': `flask\n${line}\n`,
      'other.txt': 'numpy\n',
      'pkg/setup.py': '',
      'lib-1.0-py3-none-any.whl': '',
    });
    expect(readRequirements(folder)).toEqual({ kind: 'with-local-files' });
  });

  test.each([
    ['-r missing.txt', 'missing.txt'],
    ['-c ../constraints.txt', '../constraints.txt'],
    ['-e ../lib', '../lib'],
    ['./pkg', './pkg'],
    ['/opt/lib.whl', '/opt/lib.whl'],
    ['dist/lib.whl', 'dist/lib.whl'],
  ])('reports a file that is not in the image: %s', (line, path) => {
    const folder = aFolder({ 'requirements.txt': `${line}\n` });
    expect(readRequirements(folder)).toEqual({ kind: 'missing', path, list: 'requirements.txt' });
  });

  test('resolves nested lists relative to their list, and packages relative to the folder', () => {
    const files = {
      'requirements.txt': '-r lists/base.txt\n',
      'lists/base.txt': '-c pins.txt\n-r ../requirements.txt\n./pkg\n',
      'lists/pins.txt': 'numpy==2\n',
    };
    expect(readRequirements(aFolder(files))).toEqual({
      kind: 'missing',
      path: './pkg',
      list: 'lists/base.txt',
    });
    expect(readRequirements(aFolder({ ...files, 'pkg/setup.py': '' }))).toEqual({ kind: 'with-local-files' });
  });
});
