// Package child starts programs that are not ours, as servers or for one call of a tool, and makes sure that they are gone
// afterwards: each runs in a process group of its own with an environment that has been cleared of secrets, and ends by a fixed
// order of input closed, terminated, killed, for the group and not only for its leader.
package child
