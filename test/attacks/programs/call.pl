# Calls the kernel by each name that an ordinary program has no need of, with arguments that are not valid, and says by which error
# it fails: EPERM, or one that shows that the kernel looked at it.
use strict;
use warnings;
use POSIX ();

my $arm = (POSIX::uname())[4] =~ /^(aarch64|arm64)$/;
my $none = -1;
my %calls = (
  process_vm_writev => [[311, 271], 0, 0, 0, 0, 0, 1],
  pidfd_getfd => [[438, 438], $none, 0, 0],
  keyctl => [[250, 219], 99, 0, 0, 0, 0],
  add_key => [[248, 217], 0, 0, 0, 0, 0],
  request_key => [[249, 218], 0, 0, 0, 0],
  perf_event_open => [[298, 241], 0, 0, 0, 0, 0],
  io_uring_setup => [[425, 425], 0, 0],
  io_uring_enter => [[426, 426], $none, 0, 0, 0, 0, 0],
  io_uring_register => [[427, 427], $none, 0, 0, 0],
  setns => [[308, 268], $none, 0],
  open_tree => [[428, 428], $none, 0, 0],
  mount_setattr => [[442, 442], $none, 0, 0x7fffffff, 0, 0],
  fsconfig => [[431, 431], $none, 0, 0, 0, 0],
  unshare => [[272, 97], 0x10000000 | 1],
  clone => [[56, 220], 0x10000000 | 0x200, 0, 0, 0, 0],
  clone3 => [[435, 435], 0, 0],
  ioctl => [[16, 29], $none, 0x5412, 0],
  ptrace_poke => [[101, 117], 5, 0x3fffffff, 0, 0],
  ptrace_attach => [[101, 117], 16, 0x3fffffff, 0, 0],
);
for my $name (sort keys %calls) {
  my ($numbers, @args) = @{$calls{$name}};
  syscall($numbers->[$arm ? 1 : 0], @args) == -1 or die "$name worked";
  print "$name ", $!{EPERM} ? 'EPERM' : $!{ENOSYS} ? 'ENOSYS' : 'looked at', "\n";
}
