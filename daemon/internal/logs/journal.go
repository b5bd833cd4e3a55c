package logs

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
)

// journalLines is how many lines of the log are kept for daemon.logs; older
// ones are in the file.
const journalLines = 2000

// defaultTail is how many lines daemon.logs gives unasked.
const defaultTail = 200

// journal keeps the end of the log in memory, and hands new lines on.
type journal struct {
	mu      sync.Mutex
	lines   []api.LogLine
	readers map[*server.Stream]func(api.LogLine) bool
}

// add takes a record of a part.
func (j *journal) add(part string, record slog.Record, with []slog.Attr) {
	line := api.LogLine{At: api.TimeOf(record.Time), Level: levelWord(record.Level), Package: part, Text: record.Message}
	field := func(a slog.Attr) bool {
		if line.Fields == nil {
			line.Fields = map[string]string{}
		}
		line.Fields[a.Key] = a.Value.Resolve().String()
		return true
	}
	for _, a := range with {
		field(a)
	}
	record.Attrs(field)
	for _, stream := range j.keep(line) {
		// Not under the lock: whoever sends may have something to log. A reader
		// that is gone, or too slow and told so, is forgotten by Read.
		_ = stream.Send("", func(n uint64) any {
			return api.DaemonLogged{Sub: stream.Sub(), N: n, Lines: []api.LogLine{line}}
		})
	}
}

// keep keeps a line and gives the readers that want it.
func (j *journal) keep(line api.LogLine) []*server.Stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	if extra := len(j.lines) - journalLines; extra > 0 {
		j.lines = slices.Delete(j.lines, 0, extra)
	}
	var streams []*server.Stream
	for stream, wants := range j.readers {
		if wants(line) {
			streams = append(streams, stream)
		}
	}
	return streams
}

// levelWord is the API's word for a level.
func levelWord(level slog.Level) api.LogLevel {
	switch {
	case level < slog.LevelInfo:
		return api.LogDebug
	case level < slog.LevelWarn:
		return api.LogInfo
	case level < slog.LevelError:
		return api.LogWarn
	}
	return api.LogError
}

// Read is daemon.logs: it gives the lines that a caller wants, and follows on if asked to. Both
// happen in one step: no line is missed or told twice in between.
func (j *journal) Read(c *server.Caller, p api.DaemonLogsParams) (api.DaemonLogsResult, error) {
	order := api.LogLevel("").Values()
	if p.Level != "" && !p.Level.Valid() {
		return api.DaemonLogsResult{}, api.Errorf(api.ReasonBadValue, "level", "level is %q; choose one of %v", p.Level, order)
	}
	if p.TailLines < 0 {
		return api.DaemonLogsResult{}, api.Errorf(api.ReasonBadValue, "tail_lines", "tail_lines is %d; give 0 or more", p.TailLines)
	}
	least := slices.Index(order, string(cmp.Or(p.Level, api.LogInfo)))
	wants := func(line api.LogLine) bool {
		return (p.Package == "" || p.Package == line.Package) && slices.Index(order, string(line.Level)) >= least
	}
	result := api.DaemonLogsResult{Lines: []api.LogLine{}}
	var stream *server.Stream
	if p.Follow {
		var err error
		stream, err = c.Subscribe(func(sub api.Subscription) any { return api.DaemonLogged{Sub: sub, Lagged: true} })
		if err != nil {
			return result, err
		}
		result.Sub = stream.Sub()
	}
	j.mu.Lock()
	for _, line := range j.lines {
		if wants(line) {
			result.Lines = append(result.Lines, line)
		}
	}
	if stream != nil {
		j.readers[stream] = wants
	}
	j.mu.Unlock()
	if stream != nil {
		go func() {
			<-stream.Done()
			j.mu.Lock()
			delete(j.readers, stream)
			j.mu.Unlock()
		}()
	}
	if extra := len(result.Lines) - cmp.Or(p.TailLines, defaultTail); extra > 0 {
		result.Lines = result.Lines[extra:]
	}
	return result, nil
}
