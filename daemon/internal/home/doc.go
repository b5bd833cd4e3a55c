// Package home owns where a daemon keeps things and on what terms: which
// folders it has in system mode and in user mode, how they are made, that
// nobody else can change what root relies on, that one daemon at a time holds
// them, and that a file is there whole or not at all.
//
//	folders, err := home.Resolve(home.Process())
//	err = folders.Create()
//	err = folders.Check()
//	lock, err := folders.Lock()
//	defer lock.Release()
//
// Whoever writes a file outside the database uses [WriteFile], and gives what
// went wrong with a file to [Explain], so that a full disk and a folder that
// cannot be written read alike everywhere.
package home
