package cluster

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
)

// Opened is what OpenIdentity found or made.
type Opened struct {
	// Identity is the node's.
	Identity Identity
	// Moved tells of a key of another machine; nil if there was none. It is the
	// event behind the condition key_on_other_hardware.
	Moved *Moved
}

// Moved is a key that was made on another machine, as after a disk was cloned
// or put into another Mac. It is kept.
type Moved struct {
	// Node is the id that it makes.
	Node api.NodeID
	// File is where it lies now.
	File string
}

// OpenIdentity reads the node's key from a folder, or makes one there. The
// caller holds the folder's lock. The hardware's identifier ties the key to the
// machine; where it is empty, because it could not be read, the key is taken as
// it is, and tied the first time that it can be. Identifiers of different
// sources, as root and another user can read on Linux, are not compared.
//
// A key file that cannot be read, is damaged, or can be read by others is an
// error that names the file and the remedy. It is never replaced: it may be all
// that is left of the node's membership.
func OpenIdentity(folder, hardwareID string, now time.Time) (Opened, error) {
	path := filepath.Join(folder, api.KeyFile)
	f, err := readKeyFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path, hardwareID, now)
	}
	if err != nil {
		return Opened{}, err
	}
	switch {
	case hardwareID == "" || f.HardwareID == hardwareID:
		return Opened{Identity: f.identity()}, nil
	case f.HardwareID == "":
		f.HardwareID = hardwareID
		return Opened{Identity: f.identity()}, writeKeyFile(path, f)
	case sourceOf(f.HardwareID) != sourceOf(hardwareID):
		return Opened{Identity: f.identity()}, nil
	}
	moved := &Moved{Node: f.Node}
	if moved.File, err = home.SetAside(path, path+"."+f.Node.String()); err != nil {
		return Opened{}, err
	}
	made, err := makeKey(path, hardwareID, now)
	made.Moved = moved
	return made, err
}

// sourceOf is what an identifier was read from: what stands before its colon.
func sourceOf(hardwareID string) string {
	source, _, found := strings.Cut(hardwareID, ":")
	if !found || hardwareID == "" {
		return ""
	}
	return source
}

// readKeyFile reads and checks the file; an error that is fs.ErrNotExist means
// that there is none.
func readKeyFile(path string) (keyFile, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return keyFile{}, err
	}
	if err != nil {
		return keyFile{}, home.Explain(err, "examine", path)
	}
	if !info.Mode().IsRegular() {
		return keyFile{}, damaged(path, "it is not a plain file")
	}
	if err := checkPrivate(path, info); err != nil {
		return keyFile{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return keyFile{}, home.Explain(err, "read", path)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil {
		return keyFile{}, home.Explain(err, "read", path)
	}
	f, err := decodeKeyFile(raw)
	if err != nil {
		return keyFile{}, damaged(path, err.Error()) // in words for people
	}
	return f, nil
}

// checkPrivate wants the file to be this account's and nobody else's to read.
func checkPrivate(path string, info fs.FileInfo) error {
	remedy := ""
	stat, isUnix := info.Sys().(*syscall.Stat_t)
	switch {
	case isUnix && int(stat.Uid) != os.Geteuid():
		remedy = fmt.Sprintf("chown %d %q", os.Geteuid(), path)
	case info.Mode().Perm()&0o077 != 0:
		remedy = fmt.Sprintf("chmod 600 %q", path)
	default:
		return nil
	}
	return api.Errorf(api.ReasonInsecurePermissions, path, "The node's key %s is not private: it belongs to another account, or others may open it.", path).
		WithRemedy("If nobody else can have read it, run: " + remedy + ". Otherwise move it away: Fulmen then makes a new key, and you pair this machine again.")
}

func damaged(path, what string) error {
	return api.Errorf(api.ReasonStateCorrupt, path, "The node's key %s cannot be used: %s.", path, what).
		WithRemedy("Restore it from a backup of this machine. Without one, move it away: Fulmen then makes a new key, and you pair this machine again.")
}

func makeKey(path, hardwareID string, now time.Time) (Opened, error) {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails: it ends the process where the system has no randomness
	f := keyFile{Format: keyFormat, Seed: seed, HardwareID: hardwareID, CreatedAt: api.TimeOf(now)}
	f.Node = f.identity().Node
	if err := writeKeyFile(path, f); err != nil {
		return Opened{}, err
	}
	return Opened{Identity: f.identity()}, nil
}

func writeKeyFile(path string, f keyFile) error {
	raw, err := f.encode()
	if err != nil {
		return err
	}
	return home.WriteFile(path, raw, 0o600)
}

// RetireIdentity sets the node's key aside, under a name that says whose it was,
// because its cluster has removed it for good: the next OpenIdentity makes
// another one. No key is no error.
func RetireIdentity(folder string) error {
	path := filepath.Join(folder, api.KeyFile)
	f, err := readKeyFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = home.SetAside(path, path+"."+f.Node.String())
	return err
}
