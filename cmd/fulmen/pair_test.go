package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// codes are how codes are shown.
var codes = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`)

// pair opens Add a Mac, reads the code and ends it as Ctrl-C does: the code is
// taken back, and nowhere in the daemon's folders.
func pair(ts *testscript.TestScript, _ bool, _ []string) {
	cmd := program(ts, "fulmen", "pair")
	var expectLine bytes.Buffer
	cmd.Stderr = &expectLine
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	code := lines.Text()
	ts.Check(cmd.Process.Signal(os.Interrupt))
	ts.Check(cmd.Wait())
	if !codes.MatchString(code) {
		ts.Fatalf("%q is no code", code)
	}
	if expectLine.String() != "Closed; the code is no longer valid.\n" {
		ts.Fatalf("it said %q", expectLine.String())
	}
	ts.Check(filepath.WalkDir(ts.Getenv("FULMEN_HOME"), func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil // the daemon runs on, and its files come and go
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(text, []byte(code)) || bytes.Contains(text, []byte(strings.ReplaceAll(code, "-", ""))) {
			ts.Fatalf("the code is in %s", path)
		}
		return err
	}))
}
