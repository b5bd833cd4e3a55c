package rank

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native/atomicfile"
)

const (
	fenceFile = "fence.json" // in a job's folder
	// maxRecord is the longest record or fence that is read.
	maxRecord = 1 << 20
)

// recordPath is where the record of the rank with a folder is: beside it, since
// the folder itself can belong to the rank's account.
func recordPath(folder string) string { return folder + ".json" }

// record is what outlives the daemon of a rank. It holds no value of the
// environment.
type record struct {
	// Doc is the rank's document.
	Doc       api.Rank      `json:"doc"`
	Principal api.Principal `json:"principal"`
	// Home is the node that asked for it.
	Home    api.NodeID `json:"home"`
	Account string     `json:"account"`
	// Plan is what its node grants to all ranks of the job on it.
	Plan   api.PlanRank     `json:"plan"`
	Output api.OutputPolicy `json:"output"`
	Label  string           `json:"label"`
	Socket string           `json:"socket"`
	LeaseS float64          `json:"lease_s"`
	GraceS float64          `json:"grace_s"`
	// Made orders the ranks of this node: a clock that was set does not.
	Made uint64 `json:"made,omitzero"`
	// Before is how many ranks of the job on this node come before it; the first one's is their grant.
	Before int `json:"before,omitzero"`
	// Alone says that it is the job's only rank.
	Alone bool `json:"alone,omitzero"`
	// HeartbeatS is how long it may leave between two heartbeats; 0 = it has none.
	HeartbeatS float64 `json:"heartbeat_s,omitzero"`
	// Committed says that the supervisor may have been asked to start it.
	Committed bool `json:"committed,omitzero"`
}

// ref reads what never changes, so that no lock is needed.
func (r *record) ref() api.RankRef {
	return api.RankRef{Job: r.Doc.Job, Attempt: r.Doc.Attempt, Rank: r.Doc.Rank}
}

// grant is the rank whose grant it lives in.
func (r *record) grant() api.RankRef {
	ref := r.ref()
	ref.Rank -= r.Before
	return ref
}

// readRecord reads what is known of the rank in a folder.
func readRecord(folder string) (r record, err error) {
	err = readWhole(recordPath(folder), &r)
	if err == nil && (!r.ref().Valid() || !r.grant().Valid() || !r.Doc.Phase.Valid() || r.Label == "") {
		err = fmt.Errorf("%s is not the record of a rank", recordPath(folder))
	}
	return r, err
}

// fence is what a node has to remember of a job to refuse what is over: the
// content of fence.json.
type fence struct {
	// Epoch is the highest that was heard of.
	Epoch uint64 `json:"epoch"`
	// Attempt is the highest attempt that was heard of.
	Attempt int `json:"attempt"`
	// Starts is how many attempts were started here.
	Starts int `json:"starts,omitzero"`
	// Ended says that the attempt was ended here, and Ranks that these of it were.
	Ended bool  `json:"ended,omitzero"`
	Ranks []int `json:"ranks,omitzero"`
}

func readFence(folder string) (f fence, err error) {
	err = readWhole(filepath.Join(folder, fenceFile), &f)
	return f, err
}

func readWhole(path string, into any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRecord+1))
	if err != nil {
		return err
	}
	if len(text) > maxRecord {
		return fmt.Errorf("%s is longer than %d bytes", path, maxRecord)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeWhole replaces a file, for its owner alone, in one step. It is
// not synced: what a power cut loses is about processes that it ended as well.
func writeWhole(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), 0o600)
}

// readEnd reads the record of a rank's end. What its account has put in the place
// of the file, where the folder is the account's, is not followed.
func readEnd(folder string) (shimproto.ExitRecord, error) {
	path := filepath.Join(folder, shimproto.ExitFile)
	if _, err := os.Lstat(path); err == nil && !isFile(path) {
		return shimproto.ExitRecord{}, fmt.Errorf("%s is not a file", path)
	}
	return shimproto.ReadExit(folder)
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// lastLine is the last line of a file's end that says something, for people; ""
// where there is none.
func lastLine(path string) string {
	if !isFile(path) {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	const most = 4 << 10
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(file, most))
	line := strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))
	line = strings.TrimSpace(line[strings.LastIndexByte(line, '\n')+1:])
	return line[:min(len(line), 300)]
}
