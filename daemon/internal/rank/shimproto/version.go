package shimproto

import "fmt"

// The versions of this protocol that this program speaks. A daemon is upgraded
// while shims of the previous version run, so there is always one before.
const (
	Version       = 1 // 2026-11-21: first
	OldestVersion = 1
)

// Versions is the range that one side speaks.
type Versions struct {
	Newest int `json:"version"`
	Oldest int `json:"oldest_version"`
}

// OwnVersions is what this program speaks.
func OwnVersions() Versions { return Versions{Newest: Version, Oldest: OldestVersion} }

// Check returns a [FieldError] for a range that is none.
func (v Versions) Check() error {
	if v.Newest < 1 {
		return badField("version", "%d is less than 1", v.Newest)
	}
	if v.Oldest < 1 || v.Oldest > v.Newest {
		return badField("oldest_version", "%d is outside 1 to %d", v.Oldest, v.Newest)
	}
	return nil
}

// Negotiate returns the newest version that both sides speak, or an error that
// matches [ErrVersion] and says which side is older.
func (v Versions) Negotiate(other Versions) (int, error) {
	common := min(v.Newest, other.Newest)
	if common >= v.Oldest && common >= other.Oldest {
		return common, nil
	}
	return 0, fmt.Errorf("%w: here %d to %d, there %d to %d", ErrVersion, v.Oldest, v.Newest, other.Oldest, other.Newest)
}
