"""build.py: builds test programs with mutants from a finished build, in a folder of its own."""

import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess

from instrument import instrumented
from rules import PROJECT, source_text

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("heed_tests", "heed_double_tests")
JOBS = 2
ROUNDS = 12  # of dropping mutants that do not compile


class BuildError(Exception):
    """Something does not build without a mutant."""


def called(command, folder):
    return subprocess.run(command, cwd=folder, shell=isinstance(command, str), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


class Build:
    """Objects and test programs with the mutants' switches, in `folder`."""

    def __init__(self, build, folder):
        self.build, self.folder = pathlib.Path(build).resolve(), folder
        self.folder.mkdir(parents=True, exist_ok=True)
        targets = ["heed_app", *PROGRAMS]
        listed = called(["ninja", "-C", self.build, "-t", "commands", *targets], self.build)
        if listed.returncode != 0:
            raise BuildError(f"ninja does not list the commands of {self.build}: {listed.stdout}")
        self.commands = [line for line in listed.stdout.splitlines()
                         if line.startswith(": &&") or " -c " in line]
        self.members = {}  # joint object of several sources: {source: (object of its own, command)}
        for command in self.commands:
            if joint := re.search(r" -o (\S+) -c (\S+/Unity/\S+)$", command):
                sources = re.findall(r'#include "(\S+)"', pathlib.Path(joint[2]).read_text(encoding="utf-8"))
                self.members[joint[1]] = {
                    source: (own := f"{joint[1]}.{pathlib.Path(source).stem}.o",
                             f"{command[:joint.start()]} -o {own} -c {source}") for source in sources}
        self.objects = {}  # object of the build: instrumented object
        self.headers = {}  # precompiled header of the build: that of -O1

    def compilations(self, file):
        """(object, command) of a source: one, or with float and with double."""
        alone = [(re.search(r" -o (\S+)", command)[1], command) for command in self.commands
                 if command.endswith(f" -c {PROJECT / file}")]
        return alone + [members[str(PROJECT / file)] for members in self.members.values()
                        if str(PROJECT / file) in members]

    def precompiled(self, command):
        """The command with -O1, with the checks of the standard library, and with a precompiled
        header made in this way: a mutant that reads beyond the end of a vector then aborts."""
        command = re.sub(r" -O[123]\b", " -O1 -D_GLIBCXX_ASSERTIONS", command)
        header = re.search(r" -include (\S+\.hxx)", command)
        if header is None:
            return command
        if header[1] not in self.headers:
            own = self.folder / re.sub(r"\W", "_", header[1])
            self.headers[header[1]] = f"{own}.hxx"
            compiled = pathlib.Path(f"{own}.hxx.gch")
            built = pathlib.Path(f"{header[1]}.gch")
            if compiled.exists() and compiled.stat().st_mtime > built.stat().st_mtime:
                return self.precompiled(command)
            shutil.copy(header[1], f"{own}.hxx")
            compile_header = re.sub(r" -(?:MD|MT \S+|MF \S+|o \S+|include \S+)|-Winvalid-pch", "", command)
            compile_header = re.sub(r" -c \S+$", f" -x c++-header -c {own}.hxx -o {own}.hxx.gch",
                                    compile_header)
            done = called(compile_header, self.build)
            if done.returncode != 0:
                raise BuildError(done.stdout[-3000:])
        return command.replace(header[1], self.headers[header[1]]).replace(" -Winvalid-pch", "")

    def compile_command(self, command, source, target, file):
        command = re.sub(r" -MD| -MT \S+| -MF \S+", "", self.precompiled(command))
        command = re.sub(r" -o \S+ -c \S+$", "", command)
        return (f"{command} -w -Wno-narrowing -fmax-errors=0 -iquote {(PROJECT / file).parent} "
                f"-I {HERE} {target} -c {source}")

    def compile(self, file, numbered):
        """Compiles the instrumented file; returns the numbers of the mutants that do not compile."""
        source = self.folder / file
        source.parent.mkdir(parents=True, exist_ok=True)
        text, dropped = source_text(file), set()
        own = {target: self.folder / target for target, _ in self.compilations(file)}
        state = repr((hashlib.sha256(text.encode()).hexdigest(), numbered))
        stamp = self.folder / f"{file}.json"  # what has been compiled into this folder before
        if stamp.exists() and all(path.exists() for path in own.values()):
            before = json.loads(stamp.read_text())
            if before["state"] == state:
                self.objects.update(own)
                return set(before["dropped"])
        for attempt in range(ROUNDS):
            kept = [each for each in numbered if each[0] not in dropped]
            code = instrumented(text, kept)
            source.write_text(f'#include "switches.hpp"\n#line 1 "{PROJECT / file}"\n{code}')
            errors = next(filter(None, (self.errors(command, source, own[target], file)
                                        for target, command in self.compilations(file))), "")
            if not errors:
                break
            if not kept:
                raise BuildError(f"{file}: {errors[-3000:]}")
            all_of_them = {number for number, _ in kept}
            bad = culprits(errors, file, code, kept, text, attempt)
            dropped |= bad if bad and attempt < ROUNDS - 2 else all_of_them
        self.objects.update(own)
        stamp.write_text(json.dumps({"state": state, "dropped": sorted(dropped)}))
        return dropped

    def errors(self, command, source, target, file):
        target.parent.mkdir(parents=True, exist_ok=True)
        done = called(self.compile_command(command, source, f"-o {target}", file), self.build)
        return done.stdout if done.returncode != 0 else ""

    def compile_all(self, numbered):
        """numbered: {file: [(number, mutant)]}. Returns the numbers of those that do not compile."""
        for file in numbered:  # the precompiled headers, one after the other
            for _, command in self.compilations(file):
                self.precompiled(command)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            dropped = pool.map(lambda each: self.compile(*each), numbered.items())
            return set().union(*dropped)

    def compile_switches(self):
        program = f'-DHEED_BUILT_PROGRAM=\'"{self.build}/heed"\''
        for name in ("switches", "test_program"):
            done = called(f"c++ -std=c++17 -O1 -w {program} -c {HERE}/{name}.cpp -o {name}.o",
                          self.folder)
            if done.returncode != 0:
                raise BuildError(done.stdout)

    def replace(self, file, text):
        """Compiles the text in place of the file, without switches; returns whether that worked. For a header,
        compiles all that include it into heed_double_tests."""
        changed = self.folder / "changed"
        shutil.rmtree(changed, ignore_errors=True)
        (changed / file).parent.mkdir(parents=True)
        (changed / file).write_text(f'#line 1 "{PROJECT / file}"\n{text}')
        self.objects, works = {}, True
        for user in [file] if file.endswith(".cpp") else self.users_of(file):
            source = changed / user
            source.parent.mkdir(parents=True, exist_ok=True)
            if user != file:
                source.write_text(f'#line 1 "{PROJECT / user}"\n{source_text(user)}')
            for target, command in self.compilations(user):
                if user == file or "double" in target:
                    command = re.sub(r" -include \S+\.hxx", "", command) if user != file else command
                    command = command.replace(" -I", f" -I{changed}/include -I{changed}/src -I", 1)
                    self.objects[target] = self.folder / f"{target}.changed.o"
                    works = works and not self.errors(command, source, self.objects[target], user)
        return works

    def users_of(self, header):
        """The sources of heed_double_tests that include a header, by themselves or in a precompiled header."""
        listed = called(["ninja", "-C", self.build, "-t", "deps"], self.build).stdout
        holders = [block.split(":")[0] for block in listed.split("\n\n")
                   if f"{PROJECT / header}\n" in f"{block}\n"]
        precompiled = [holder[:-len(".gch")] for holder in holders if holder.endswith(".gch")]
        users = set()
        for command in self.commands:
            found = re.search(rf" -o (\S*double\S*) -c {PROJECT}/((?:src|tests)/\S+\.cpp)$", command)
            if found and (found[1] in holders or any(f"/{each} " in command for each in precompiled)):
                users.add(found[2])
        for joint, members in self.members.items():
            if "double" in joint and joint in holders:
                users |= {str(pathlib.Path(source).relative_to(PROJECT)) for source in members}
        return sorted(users)

    def link(self):
        for command in self.commands:
            target = re.search(r" -o (\S+)", command)
            archive = re.search(r" qc (\S+\.a) ", command)
            if archive and any(self.is_changed(word) for word in command.split()):
                self.relink(command, archive[1])
        for command in self.commands:
            target = re.search(r" -o (\S+)", command)
            if command.startswith(": &&") and target and " -c " not in command:
                self.relink(command, target[1])

    def is_changed(self, word):
        own = self.members.get(word, {}).values()
        return word in self.objects or any(target in self.objects for target, _ in own)

    def objects_for(self, word):
        """The objects to link in place of one. In place of a joint object, of which one source has
        changed, those of all its sources."""
        if word not in self.members or not self.is_changed(word):
            return [str(self.objects.get(word, word))]
        for source, (target, command) in self.members[word].items():
            own = self.folder / target
            if target not in self.objects and not own.exists():
                file = pathlib.Path(source).relative_to(PROJECT)
                if errors := self.errors(command, source, own, file):
                    raise BuildError(errors[-3000:])
        return [str(self.objects.get(target, self.folder / target))
                for target, _ in self.members[word].values()]

    def relink(self, command, target):
        """An archive or a program: its command with the instrumented objects and archives."""
        is_test = target.split("/")[-1] in PROGRAMS
        if not (is_test or target == "heed" or target.startswith("commands/") or target.endswith(".a")):
            return
        mark = f" qc {target} " if target.endswith(".a") else f" -o {target} "
        words = shlex.split(next(part for part in command.split(" && ") if mark in part))
        words = [own for word in words for own in self.objects_for(word)]
        own = self.folder / target
        own.parent.mkdir(parents=True, exist_ok=True)
        if target.endswith(".a"):
            own.unlink(missing_ok=True)
        else:
            extra = ["-Wl,--wrap=execve", "-Wl,--wrap=execvp", f"{self.folder}/test_program.o"]
            words[-1:-1] = (extra if is_test else []) + [f"{self.folder}/switches.o"]
            words += fast_linker()
        words = [str(own) if word == target else word for word in words]
        done = called(words, self.build)
        if done.returncode != 0:
            raise BuildError(done.stdout[-3000:])
        self.objects[target] = own


def fast_linker():
    found = [name for name in ("mold", "lld", "gold") if shutil.which(f"ld.{name}")]
    return [f"-fuse-ld={name}" for name in found[:1]]


def culprits(errors, file, code, kept, text, attempt):
    """The numbers of the mutants that stand nearest to the errors."""
    where = rf"^{re.escape(str(PROJECT / file))}:(\d+):(\d+):\s+(?:fatal )?(?:error|  required from)"
    lines, result = code.split("\n"), set()
    for line, column in {(int(l), int(c)) for l, c in re.findall(where, errors, re.M)}:
        marks = [(m.start(), int(m[1])) for m in re.finditer(r"heed_mutants::on\((\d+)", lines[line - 1])]
        before = [number for at, number in marks if at < column]
        after = [number for at, number in marks if at >= column]
        if attempt < 4 and marks:
            result |= set(before[-1:] + (after[:1] if not before else []))
        else:
            result |= {number for _, number in marks}
    if not result:  # a statement of several lines
        near = {int(line) for line, _ in re.findall(where, errors, re.M)}
        for number, mutant in kept:
            at = text.count("\n", 0, mutant.edits[0].begin) + 1
            if any(abs(at - line) <= 3 for line in near):
                result.add(number)
    return result
