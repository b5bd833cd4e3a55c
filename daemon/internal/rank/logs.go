package rank

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"fulmen/daemon/api"
)

// maxLogBytes is what the output of all ranks may take on this node's disk
// before that of the oldest that have ended is removed.
const maxLogBytes = 8 << 30

// logRoom is what the output of one rank can take.
const logRoom = 2 * (logHeadBytes + logTailBytes)

// trimLogs makes room for the output of another rank.
func (r *Ranks) trimLogs() { r.trimLogsTo(maxLogBytes - logRoom) }

// trimLogsTo removes the output of the oldest ranks that have ended until that of
// all takes no more than most. Files are looked at only where they may take more:
// a rank counts for all that it can print until it was looked at after its end.
func (r *Ranks) trimLogsTo(most int64) {
	type logs struct {
		of      *held
		bytes   int64
		isEnded bool
	}
	var all []logs
	var total int64
	r.mu.Lock()
	for _, h := range r.held {
		total += h.logsAtMostLocked()
		all = append(all, logs{of: h, isEnded: h.Doc.Phase.Ended()})
	}
	r.mu.Unlock()
	if total <= most {
		return
	}
	total = 0
	for i := range all {
		for _, path := range all[i].of.logPaths() {
			if info, err := os.Lstat(path); err == nil {
				all[i].bytes += bytesOnDisk(info)
			}
		}
		total += all[i].bytes
	}
	slices.SortFunc(all, func(a, b logs) int { return cmp.Compare(a.of.Made, b.of.Made) })
	for i, l := range all {
		if total <= most {
			break
		}
		if !l.isEnded || l.bytes == 0 {
			continue
		}
		for _, path := range l.of.logPaths() {
			_ = os.Remove(path)
		}
		total -= l.bytes
		all[i].bytes = 0
		r.cfg.Log.Info("the output of an old rank was removed to make room", "rank", l.of.ref().String(), "bytes", l.bytes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range all {
		if l.isEnded {
			l.of.logBytes = &l.bytes
		}
	}
}

// logPaths are where a rank's output is. They never change.
func (h *held) logPaths() [2]string {
	number := strconv.Itoa(h.Doc.Rank)
	return [2]string{filepath.Join(h.folder, api.OutFilePrefix+number), filepath.Join(h.folder, api.ErrFilePrefix+number)}
}

// logsAtMostLocked bounds what its output takes.
func (h *held) logsAtMostLocked() int64 {
	if h.logBytes != nil {
		return *h.logBytes
	}
	return logRoom
}

// bytesOnDisk is what a file takes; a log has a hole where its middle was.
func bytesOnDisk(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
