// Package units writes sizes and numbers of things for people. Programs take the numbers themselves.
package units
