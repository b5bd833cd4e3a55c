package rdma

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/rdma/change"
)

// undoVersion is the form of the file. A newer one is not read, and not replaced.
const undoVersion = 1

// undoNote tells whoever opens the file what it is.
const undoNote = "What Fulmen changed in this Mac's network configuration for RDMA: a step bridge took the interface out of that bridge, " +
	"a step service gave it that network service. fulmen rdma undo puts it back."

// undoFile is the form of the file on the disk.
type undoFile struct {
	Version int             `json:"version"`
	Note    string          `json:"note"`
	Changes []change.Record `json:"changes"`
}

// UndoFile is the file that keeps the record of changes, for as long as there is
// something to put back: beside the program's own state and readable without it.
type UndoFile struct {
	// Path is where it lies.
	Path string
}

// Load reads the file. One that is missing is empty; one that cannot be read is an
// error, and is left for a person.
func (f UndoFile) Load() ([]change.Record, error) {
	raw, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, home.Explain(err, "read", f.Path)
	}
	records, err := ParseUndo(raw)
	if err != nil {
		return nil, api.Errorf(api.ReasonStateCorrupt, f.Path, "%s cannot be read.", f.Path).
			WithRemedy("Fix it, or move it away; what it lists can then be put back only by hand.").From(err)
	}
	return records, nil
}

// Save replaces the file: a crash leaves the old one or the new one.
func (f UndoFile) Save(records []change.Record) error {
	if records == nil {
		records = []change.Record{}
	}
	raw, err := json.MarshalIndent(undoFile{undoVersion, undoNote, records}, "", "  ")
	if err != nil {
		return err
	}
	return home.WriteFile(f.Path, append(raw, '\n'), 0o600)
}

// ParseUndo reads what the file holds.
func ParseUndo(raw []byte) ([]change.Record, error) {
	var file undoFile
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&file); err != nil {
		return nil, err
	}
	if file.Version != undoVersion {
		return nil, fmt.Errorf("it is of version %d, this Fulmen reads %d", file.Version, undoVersion)
	}
	for i, r := range file.Changes {
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
	}
	return file.Changes, nil
}

// Open counts the changes in it that have something to put back. A record that cannot be
// read has one.
func (f UndoFile) Open() int {
	records, err := f.Load()
	if err != nil {
		return 1
	}
	count := 0
	for _, r := range records {
		if r.State != api.RDMAChangeUndone && len(r.Left()) > 0 {
			count++
		}
	}
	return count
}
