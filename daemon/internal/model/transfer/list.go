package transfer

import (
	"fmt"
	"path"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// listing is a model as its sender describes it, checked.
type listing struct {
	header
	files []File
}

// readListing reads what the sender begins with. foldCase refuses names that differ in
// case only, for a disk that takes them for the same.
func readListing(conn *wire.Conn, foldCase bool) (l listing, err error) {
	if l.header, err = wire.Expect[header](conn, wire.Model); err != nil {
		return l, err
	}
	names := names{files: map[string]string{}, folders: map[string]string{}, foldCase: foldCase}
	sizes := map[string]int64{} // by hash
	var bytes, read int64
	for len(l.files) < l.Files {
		data, err := conn.Expect(wire.ModelFiles)
		if err != nil {
			return l, err
		}
		var part []File
		if read += int64(len(data)); read > maxListBytes {
			return l, fmt.Errorf("%w: a list of more than %d bytes", wire.ErrProtocol, maxListBytes)
		}
		if err := wire.Strict(data, &part); err != nil {
			return l, err
		}
		if len(part) == 0 || len(l.files)+len(part) > l.Files {
			return l, fmt.Errorf("%w: not the count of files", wire.ErrProtocol)
		}
		for _, e := range part {
			if !e.Valid() {
				return l, fmt.Errorf("%w: the file %.80q", wire.ErrProtocol, e.Path)
			}
			if err := names.add(e.Path); err != nil {
				return l, err
			}
			if size, isKnown := sizes[e.Hash]; e.Hash != "" && isKnown && size != e.Size {
				return l, fmt.Errorf("%w: two sizes of %s", wire.ErrProtocol, e.Hash)
			}
			sizes[e.Hash] = e.Size
			if bytes += e.Size; bytes > l.Bytes {
				return l, fmt.Errorf("%w: more bytes than the model has", wire.ErrProtocol)
			}
		}
		l.files = append(l.files, part...)
	}
	if bytes != l.Bytes {
		return l, fmt.Errorf("%w: fewer bytes than the model has", wire.ErrProtocol)
	}
	return l, nil
}

// isOf reports whether it is the model that was asked for. One that was asked for by its
// folder can be any.
func (l listing) isOf(sel api.ModelSelect) bool {
	isRevision := sel.Revision == "" || strings.HasPrefix(l.Revision, sel.Revision)
	for _, ref := range l.Refs {
		isRevision = isRevision || ref == sel.Revision
	}
	return isRevision && (path.IsAbs(sel.Model) || sel.Model == l.Repository)
}

// names are the paths of a model that can be in one folder together.
type names struct {
	files, folders map[string]string // by what the disk takes for the same
	foldCase       bool
}

func (n *names) key(name string) string {
	if n.foldCase {
		return strings.ToLower(name)
	}
	return name
}

func (n *names) add(name string) error {
	if other, taken := n.folders[n.key(name)]; taken {
		return clash(name, other)
	}
	if other, taken := n.files[n.key(name)]; taken {
		return clash(name, other)
	}
	n.files[n.key(name)] = name
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		key := n.key(folder)
		if other, taken := n.files[key]; taken {
			return clash(folder, other)
		}
		if other, known := n.folders[key]; known && other != folder {
			return clash(folder, other)
		}
		n.folders[key] = folder
	}
	return nil
}

// clash is the error of two paths that cannot be in one folder: a sender's fault, but for
// those that its disk can tell apart.
func clash(name, other string) error {
	if name == other {
		return fmt.Errorf("%w: %.80q comes twice", wire.ErrProtocol, name)
	}
	return &wire.SameNameError{Path: name, Other: other}
}
