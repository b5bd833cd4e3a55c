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

// trimLogs makes room for the output of another rank.
func (r *Ranks) trimLogs() { r.trimLogsTo(maxLogBytes - 2*(logHeadBytes+logTailBytes)) }

func (r *Ranks) trimLogsTo(most int64) {
	type logs struct {
		paths   []string
		bytes   int64
		isEnded bool
		made    uint64 // orders ranks
		ref     api.RankRef
	}
	var all []logs
	r.mu.Lock()
	for ref, h := range r.held {
		l := logs{ref: ref, made: h.Made}
		for _, prefix := range []string{api.OutFilePrefix, api.ErrFilePrefix} {
			l.paths = append(l.paths, filepath.Join(h.folder, prefix+strconv.Itoa(ref.Rank)))
		}
		if h.Doc.Phase.Ended() {
			l.isEnded = true
		}
		all = append(all, l)
	}
	r.mu.Unlock()
	var total int64
	for i := range all {
		for _, path := range all[i].paths {
			if info, err := os.Lstat(path); err == nil {
				all[i].bytes += bytesOnDisk(info)
			}
		}
		total += all[i].bytes
	}
	slices.SortFunc(all, func(a, b logs) int { return cmp.Compare(a.made, b.made) })
	for _, l := range all {
		if total <= most {
			return
		}
		if !l.isEnded || l.bytes == 0 {
			continue
		}
		for _, path := range l.paths {
			_ = os.Remove(path)
		}
		total -= l.bytes
		r.cfg.Log.Info("the output of an old rank was removed to make room", "rank", l.ref.String(), "bytes", l.bytes)
	}
}

// bytesOnDisk is what a file takes; a log has a hole where its middle was.
func bytesOnDisk(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
