package inventory

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// reportEvery is how often a verification says how far it is.
const reportEvery = 500 * time.Millisecond

// Verify reads the files of a model whose hashes are known and compares them. report is
// given how far it is, the last time with its end.
func (i *Inventory) Verify(ctx context.Context, sel api.ModelSelect, report func(p api.ModelProgress, isLast bool) error) error {
	var p api.ModelProgress
	m, root, err := i.open(sel)
	if err != nil {
		p.Error = api.AsError(err)
		return report(p, true)
	}
	defer root.Close()
	for _, f := range m.files {
		if f.hash == "" {
			p.Unverified++
		} else {
			p.TotalBytes += f.size
		}
	}
	v := verifier{root: root, progress: &p, buffer: make([]byte, 1<<20)}
	latest := time.Time{}
	v.moved = func() error {
		if now := time.Now(); now.Sub(latest) >= reportEvery {
			latest = now
			return errors.Join(ctx.Err(), report(p, false))
		}
		return ctx.Err()
	}
	var corrupt []string
	for _, f := range m.files {
		if f.hash == "" {
			continue
		}
		isGood, err := v.verify(f)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			p.Error = unreadable(f.path, err)
			return report(p, true)
		case isGood:
			p.Verified++
		default:
			corrupt = append(corrupt, f.path)
		}
	}
	p.Corrupt = named(corrupt)
	switch {
	case len(corrupt) > 0:
		p.Error = api.Errorf(api.ReasonModelCorrupt, m.Model.Model, "%d of the files of %s are not what their names say: %s.",
			len(corrupt), m.Model.Model, strings.Join(p.Corrupt, ", "))
	case m.MissingCount > 0:
		p.Error = api.Errorf(api.ReasonModelIncomplete, m.Model.Model, "%d files of %s are missing: %s.", m.MissingCount, m.Model.Model, strings.Join(m.Missing, ", "))
	}
	return report(p, true)
}

// verifier compares files with their hashes.
type verifier struct {
	root     *os.Root
	progress *api.ModelProgress
	buffer   []byte
	moved    func() error
}

// verify reports whether a file has its hash.
func (v *verifier) verify(f file) (isGood bool, err error) {
	opened, size, err := open(v.root, f.at)
	if err != nil {
		return false, err
	}
	defer opened.Close()
	var sum hash.Hash = sha256.New()
	if len(f.hash) == 40 {
		sum = sha1.New() // as Git names a blob
		fmt.Fprintf(sum, "blob %d\x00", size)
	}
	for {
		n, err := opened.Read(v.buffer)
		sum.Write(v.buffer[:n])
		v.progress.DoneBytes += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = v.moved()
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", path.Base(f.path), err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)) == f.hash, nil
}
