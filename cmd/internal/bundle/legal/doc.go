// Package legal collects what is shipped of others: which modules and libraries
// are in the programs, under which licences, and the texts of those.
package legal
