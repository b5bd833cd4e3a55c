package output

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

const (
	// DefaultPause is how long an unfinished line is kept back.
	DefaultPause = 200 * time.Millisecond
	// maxPartial is how much of an unfinished line is kept back, in bytes.
	maxPartial = 64 << 10
)

// Options say where output goes, and how it looks.
type Options struct {
	// Out and Err get what came on standard output and on standard error.
	Out, Err io.Writer
	// Prefix writes the rank in front of each line: [0].
	Prefix bool
	// Through writes every piece at once and as it is, also in the middle of a
	// line: right where there is one rank.
	Through bool
	// Together says that Out and Err are one terminal, so that a line of one would
	// end up in the middle of a line of the other.
	Together bool
	// OutTerminal and ErrTerminal say that these are terminals: prefixes are
	// coloured, a line that is drawn over keeps its prefix, and what a terminal
	// would obey is made harmless.
	OutTerminal, ErrTerminal bool
	// Verbatim leaves what rank 0 prints as it is: it was given a terminal.
	Verbatim bool
	// Pause is how long an unfinished line is kept back; 0 = DefaultPause.
	Pause time.Duration
}

// Lines writes pieces of output. It may be used by several goroutines.
type Lines struct {
	options Options

	mu      sync.Mutex
	out     *screen
	err     *screen
	sources map[source]*partial
	clean   map[source]*cleaner
	rawRank int // whose pieces go through to a terminal in raw mode; -1 = none
	failed  error
}

// source is a stream of a rank. Another attempt is another source.
type source struct {
	attempt, rank int
	stream        api.OutputStream
}

// partial is the unfinished line of a source.
type partial struct {
	kept  []byte
	timer *time.Timer
}

// screen is where lines end up.
type screen struct {
	w        io.Writer
	terminal bool
	line     *cursor
}

// cursor is the unfinished line at the end of a screen, or of two screens that
// are one terminal.
type cursor struct {
	open    bool
	by      source
	drawn   bool // its last byte takes the cursor back to its beginning
	painted bool // a colour is on
	screen  *screen
}

// New makes an empty Lines.
func New(o Options) *Lines {
	if o.Pause <= 0 {
		o.Pause = DefaultPause
	}
	l := &Lines{options: o, sources: map[source]*partial{}, clean: map[source]*cleaner{}, rawRank: -1}
	l.out = &screen{w: o.Out, terminal: o.OutTerminal, line: &cursor{}}
	l.err = &screen{w: o.Err, terminal: o.ErrTerminal, line: &cursor{}}
	if o.Together {
		l.err.line = l.out.line
	}
	return l
}

// Raw says that the terminal is in raw mode from now on and that a rank's
// pseudo-terminal stands behind it: the rank's pieces go through as they are,
// and lines of others end as such a terminal wants it. -1 ends that.
func (l *Lines) Raw(rank int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rawRank = rank
}

// Write takes a piece of output. The error is that of the writers; after one
// nothing is written any more.
func (l *Lines) Write(p api.OutputPiece) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := source{p.Attempt, p.Rank, p.Stream}
	if p.SkippedBytes > 0 {
		l.flush(s)
		l.finish(s)
		if to := l.screenOf(s); to.line.open {
			to.end(l) // what follows is another line
		}
		l.note(fmt.Sprintf("… %d bytes that rank %d printed are not kept …", p.SkippedBytes, p.Rank))
	}
	if p.Notice != nil {
		l.note(text.Clean(fmt.Sprintf("fulmen: rank %d: %s", p.Rank, p.Notice.Message)))
	}
	if len(p.Data) == 0 {
		return l.failed
	}
	if l.options.Through || p.Rank == l.rawRank {
		l.put(s, p.Data, true)
		return l.failed
	}
	l.take(s, p.Data)
	return l.failed
}

// take writes the whole lines of what a source printed and keeps the rest back.
func (l *Lines) take(s source, data []byte) {
	at := l.sources[s]
	if at == nil {
		at = &partial{}
		l.sources[s] = at
	}
	if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 {
		whole := data[:end]
		if len(at.kept) > 0 {
			whole = append(at.kept, whole...)
			at.kept = nil
		}
		at.stop()
		l.put(s, whole, false)
		data = data[end:]
	}
	if at.kept = append(at.kept, data...); len(at.kept) >= maxPartial {
		l.flush(s)
	}
	if len(at.kept) > 0 && at.timer == nil {
		at.timer = time.AfterFunc(l.options.Pause, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flush(s)
		})
	}
}

// flush writes what is kept back of a source's line.
func (l *Lines) flush(s source) {
	at := l.sources[s]
	if at == nil {
		return
	}
	at.stop()
	if len(at.kept) > 0 {
		l.put(s, at.kept, false)
		at.kept = nil
	}
}

// finish shows what a source has begun of a character or sequence that does not go on.
func (l *Lines) finish(s source) {
	if c := l.clean[s]; c != nil && len(c.tail) > 0 {
		l.put(s, c.rest(), l.options.Through)
	}
}

func (p *partial) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// put writes bytes of a source to its screen: after an unfinished line of
// another source a new line is begun, its own is continued.
func (l *Lines) put(s source, data []byte, through bool) {
	to := l.screenOf(s)
	begun := to.line.open && to.line.by == s
	painted := begun && to.line.painted
	if to.terminal && s.rank != l.rawRank && !(l.options.Verbatim && s.rank == 0) {
		c := l.clean[s]
		if c == nil {
			c = &cleaner{}
			l.clean[s] = c
		}
		if data, painted = c.clean(data, painted); len(data) == 0 {
			return
		}
	}
	var b bytes.Buffer
	if to.line.open && !begun {
		to.end(l)
	}
	switch {
	case through || !l.options.Prefix && l.rawRank < 0:
		b.Write(data)
	default:
		l.lines(&b, to, s, data, begun)
	}
	last := data[len(data)-1]
	to.line.open, to.line.by, to.line.screen, to.line.drawn = last != '\n', s, to, last == '\r'
	to.line.painted = painted
	l.write(to.w, b.Bytes())
}

// screenOf is where a source's lines go.
func (l *Lines) screenOf(s source) *screen {
	if s.stream == api.StreamErr {
		return l.err
	}
	return l.out
}

// lines writes lines with what belongs in front of each and at its end.
func (l *Lines) lines(b *bytes.Buffer, to *screen, s source, data []byte, begun bool) {
	prefix := ""
	if l.options.Prefix {
		prefix = prefixOf(s.rank, to.terminal)
	}
	if !begun || to.line.drawn && to.terminal {
		b.WriteString(prefix)
	}
	for i, c := range data {
		if c == '\n' && l.rawRank >= 0 {
			b.WriteByte('\r')
		}
		b.WriteByte(c)
		if i == len(data)-1 {
			break
		}
		if c == '\n' || c == '\r' && to.terminal && data[i+1] != '\n' {
			b.WriteString(prefix)
		}
	}
}

// end ends the unfinished line of another source.
func (to *screen) end(l *Lines) {
	ending := "\n"
	if l.rawRank >= 0 {
		ending = "\r\n"
	}
	if to.line.painted {
		ending = reset + ending
	}
	l.write(to.line.screen.w, []byte(ending))
	to.line.open, to.line.drawn, to.line.painted = false, false, false
}

// Note writes a line about the job itself to Err, on a line of its own.
func (l *Lines) Note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(line)
}

func (l *Lines) note(line string) {
	if l.err.line.open {
		l.err.end(l)
	}
	ending := "\n"
	if l.rawRank >= 0 {
		ending = "\r\n"
	}
	l.write(l.err.w, []byte(line+ending))
}

// Close writes what is kept back, and ends a line of a terminal that nobody
// ended. Nothing is written after it by itself.
func (l *Lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.sources {
		l.flush(s)
	}
	for s := range l.clean {
		l.finish(s)
	}
	for _, to := range []*screen{l.out, l.err} {
		if to.line.open && to.line.screen.terminal {
			to.end(l)
		}
	}
	return l.failed
}

func (l *Lines) write(w io.Writer, data []byte) {
	if l.failed == nil {
		_, l.failed = w.Write(data)
	}
}

// prefixOf is what stands before the lines of a rank; on a terminal each rank
// has one of six colours.
func prefixOf(rank int, colour bool) string {
	plain := "[" + strconv.Itoa(rank) + "] "
	if !colour {
		return plain
	}
	return "\x1b[3" + strconv.Itoa(1+rank%6) + "m" + plain[:len(plain)-1] + "\x1b[0m "
}
