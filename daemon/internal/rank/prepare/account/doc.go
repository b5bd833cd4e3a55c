// Package account finds the local account as which a job's programs run: its
// numbers, its groups, its home folder and its login shell. It makes the commands that
// run as it, asks the system only, and opens nothing that belongs to the account.
package account
