package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/files/wire"
)

const (
	// SendCommand is the daemon's command that sends a model.
	SendCommand = "models-send"
	// ReceiveCommand is the one that receives it.
	ReceiveCommand = "models-receive"

	chunkBytes = 4 << 20
	// window is how many requests are under way, and so how many chunks the sender holds.
	window = 4
	// maxFiles and maxListBytes bound a model's list, as the inventory's own entries are.
	maxFiles     = 200_000
	maxListBytes = 32 << 20
	// maxRefs is how many refs of a revision are copied.
	maxRefs = 64
	// maxBytes bounds a model: no sum of sizes overflows.
	maxBytes = 1 << 50
)

// SendTask is what the sender's daemon gives its process. It goes over the standard input,
// not the command line, which every account can read.
type SendTask struct {
	// Places is where the account keeps models.
	Places inventory.Places `json:"places"`
	// Model is the one to send.
	Model api.ModelSelect `json:"model"`
	// Public is the digest of the files of a model that is sent to members at large: another one,
	// and files that are not what their hashes say, are not sent. Empty = it is sent to somebody
	// who may read all of the account's.
	Public string `json:"public,omitempty"`
	// Silence is how long a model that arrives may rest; 0 = a minute.
	Silence time.Duration `json:"silence,omitempty"`
}

// ReceiveTask is what the receiver's daemon gives its process.
type ReceiveTask struct {
	// Places is where the account keeps models.
	Places inventory.Places `json:"places"`
	// Model is what the sender was asked for: another one is not taken.
	Model api.ModelSelect `json:"model"`
}

// Valid reports whether it names an account's places and a model.
func (t SendTask) Valid() bool { return path.IsAbs(t.Places.Home) && t.Model.Model != "" }

// Valid reports whether it names an account's places and a model.
func (t ReceiveTask) Valid() bool { return SendTask{Places: t.Places, Model: t.Model}.Valid() }

// header is what a model is.
type header struct {
	Repository string   `json:"repository"`
	Revision   string   `json:"revision"`
	Refs       []string `json:"refs,omitempty"`
	Files      int      `json:"files"`
	Bytes      int64    `json:"bytes"`
}

func (h header) Valid() bool {
	for _, ref := range h.Refs {
		if !inventory.IsRef(ref) {
			return false
		}
	}
	_, isRepository := inventory.RepositoryFolder(h.Repository)
	return isRepository && inventory.IsRevision(h.Revision) && len(h.Refs) <= maxRefs &&
		0 < h.Files && h.Files <= maxFiles && 0 <= h.Bytes && h.Bytes <= maxBytes
}

// File is a file of a model.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Hash is SHA-256 in hex or SHA-1 as Git names a blob; empty where none is known.
	Hash string `json:"hash,omitempty"`
	// Sum is the SHA-256 of a file without such a hash, where it is still arriving.
	Sum string `json:"sum,omitempty"`
}

// Valid reports whether it can be one.
func (e File) Valid() bool {
	return inventory.IsPath(e.Path) && wire.ValidPath(e.Path) && 0 <= e.Size && e.Size <= maxBytes && (e.Hash == "" || inventory.IsHash(e.Hash)) && (e.Sum == "" || len(e.Sum) == 64 && inventory.IsHash(e.Sum))
}

// Digest stands for the paths, sizes and hashes of a model's files; empty where a hash is not
// known.
func Digest(files []File) string {
	sum := sha256.New()
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		if f.Hash == "" {
			return ""
		}
		fmt.Fprintf(sum, "%q %d %s\n", f.Path, f.Size, f.Hash)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// request asks for a chunk of a file, or for its SHA-256.
type request struct {
	File   int   `json:"file"`
	Offset int64 `json:"offset,omitempty"`
	Sum    bool  `json:"sum,omitempty"`
}

func (r request) Valid() bool { return r.File >= 0 && r.Offset >= 0 && r.Offset%chunkBytes == 0 }

// chunk begins an answer.
type chunk struct {
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

func (c chunk) Valid() bool {
	return 0 < c.Size && c.Size <= chunkBytes && len(c.SHA256) == 64 && inventory.IsHash(c.SHA256)
}
