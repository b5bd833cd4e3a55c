package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"fulmen/daemon/api/worker"
)

// barWidth is the progress bar's, in characters.
const barWidth = 24

// screen shows progress: a bar that is drawn over on a terminal, else a line
// for each stage.
type screen struct {
	out      io.Writer
	terminal bool
	stage    string
}

func newScreen(out *os.File) *screen {
	return &screen{out: out, terminal: term.IsTerminal(int(out.Fd()))}
}

// silent is a screen that shows nothing.
func silent() *screen { return &screen{out: io.Discard} }

func (s *screen) progress(p worker.Progress) {
	if s.terminal {
		full := int(p.DoneRatio * barWidth)
		fmt.Fprintf(s.out, "\r\x1b[K  [%s%s] %3.0f %%  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), p.DoneRatio*100, p.Stage)
		return
	}
	if p.Stage != s.stage {
		fmt.Fprintf(s.out, "  %3.0f %%  %s\n", p.DoneRatio*100, p.Stage)
	}
	s.stage = p.Stage
}

// status shows a line that the next one replaces.
func (s *screen) status(text string) {
	if s.terminal {
		fmt.Fprintf(s.out, "\r\x1b[K  %s", text)
		return
	}
	fmt.Fprintf(s.out, "  %s\n", text)
}

// clear removes the bar.
func (s *screen) clear() {
	if s.terminal {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// line prints a line above the bar.
func (s *screen) line(text string) {
	s.clear()
	fmt.Fprintf(s.out, "  %s\n", text)
}
