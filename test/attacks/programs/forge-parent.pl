# Writes into the memory of its parent, a shell that is to fail by `exit 1` in a later line, in the way that is named: makes that
# `exit 0`. Says what came of it.
use strict;
use warnings;
no warnings 'portable';
use POSIX ();

my $arm = (POSIX::uname())[4] =~ /^(aarch64|arm64)$/;
my ($PTRACE, $WRITEV) = $arm ? (117, 271) : (101, 311);
my ($ATTACH, $POKE, $DETACH) = (16, 5, 17);
my ($way, $pid) = ($ARGV[0], getppid());

open(my $maps, '<', "/proc/$pid/maps") or die "maps: $!";
my @ranges = map { /^(\w+)-(\w+) rw/ ? [hex $1, hex $2] : () } <$maps>;
open(my $memory, '<:raw', "/proc/$pid/mem") or die "mem: $!";
if ($way eq 'ptrace') { syscall($PTRACE, $ATTACH, $pid, 0, 0) == 0 or die "attach: $!"; waitpid($pid, 0); select(undef, undef, undef, 0.2); }
my ($found, $written) = (0, 0);
for my $range (@ranges) {
  my ($from, $to) = @$range;
  sysseek($memory, $from, 0) or next;
  sysread($memory, my $bytes, $to - $from) or next;
  while ($bytes =~ /exit 1/g) { $found++; $written += put($from + $-[0], 'exit 0'); }
}
syscall($PTRACE, $DETACH, $pid, 0, 0) if $way eq 'ptrace';
print "$way: ", $written > 0 ? 'written' : "refused, $found found", "\n";

sub put {
  my ($at, $text) = @_;
  my $length = length $text;
  if ($way eq 'mem') {
    open(my $to, '+<:raw', "/proc/$pid/mem") or return 0;
    sysseek($to, $at, 0);
    return syswrite($to, $text) ? 1 : 0;
  }
  if ($way eq 'writev') {
    my ($local, $remote) = (pack('PQ', $text, $length), pack('QQ', $at, $length));
    return syscall($WRITEV, $pid, $local, 1, $remote, 1, 0) > 0 ? 1 : 0;
  }
  my $word = $text . "\n\n";
  return syscall($PTRACE, $POKE, $pid, $at + 0, unpack('q', $word)) == 0 ? 1 : 0;
}
