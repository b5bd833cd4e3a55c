package unpack

import (
	"encoding/json"
	"io"
	"os"

	"fulmen/daemon/internal/rank/files/wire"
)

// maxIndex bounds the file of an index, in bytes: wire.MaxFiles entries of some
// length each.
const maxIndex = 128 << 20

// record is one thing of the copy as it was when it was put in place.
type record struct {
	wire.Entry
	// SHA256 is a file's contents.
	SHA256 string `json:"sha256,omitempty"`
	// Local is when the copy was last changed as its disk keeps it, in nanoseconds since 1970.
	Local int64 `json:"local,omitempty"`
}

// index is what an area holds. A copy of which it is lost, or of another version,
// is copied as if it were new.
type index struct {
	Version int      `json:"version"`
	Records []record `json:"records"`
}

const indexVersion = 1

func readIndex(area *os.Root) map[string]record {
	f, err := area.Open(indexFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIndex))
	if err != nil {
		return nil
	}
	var read index
	if json.Unmarshal(data, &read) != nil || read.Version != indexVersion {
		return nil
	}
	records := make(map[string]record, len(read.Records))
	for _, r := range read.Records {
		if r.Check() == nil {
			records[r.Path] = r
		}
	}
	return records
}

func writeIndex(area *os.Root, records []record) error {
	data, err := json.Marshal(index{Version: indexVersion, Records: records})
	if err != nil {
		return err
	}
	if err := area.WriteFile(indexFile+".new", data, 0o600); err != nil {
		return err
	}
	return area.Rename(indexFile+".new", indexFile)
}
