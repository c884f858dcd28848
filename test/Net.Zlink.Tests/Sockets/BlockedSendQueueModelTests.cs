using System.Globalization;
using System.Text;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>
/// Threads send to a few peers and cancel some of it, while others make room for one peer at a time; some room is made inside a send, as by
/// a reader in the same process. In the end nobody waits
/// for a peer that has room, and each says once that it has room for all. What was accepted went out once and in its sender's order, and
/// what was cancelled did not.
/// </summary>
public sealed class BlockedSendQueueModelTests : IDisposable
{
    private const int Rounds = 40;
    private const int Senders = 3;
    private const int PerSender = 150;
    private readonly TestCore _core = TestCore.Create();

    public void Dispose() => _core.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(5)]
    public async Task Sends_to_peers_that_have_room_now_and_then(int peers)
    {
        for (int round = 0; round < Rounds; round++)
        {
            await PlayAsync([.. Enumerable.Range(0, peers).Select(i => new Peer(_core, $"peer {i}"))], seed: (peers * 1_000) + round);
        }
    }

    [Fact]
    public async Task Sends_whose_peer_the_socket_chooses()
    {
        for (int round = 0; round < Rounds; round++)
        {
            await PlayAsync([new Peer(_core, id: null)], seed: round);
        }
    }

    private async Task PlayAsync(Peer[] peers, int seed)
    {
        _core.Routing = (id, payload) =>
        {
            int at = Array.FindIndex(peers, peer => id.AsSpan().SequenceEqual(peer.RouteId));
            SendStatus status = peers[at].Take(payload, out bool isRead);
            if (isRead)
            {
                peers[(at + 1) % peers.Length].MakeRoom(1); // One application may be several peers.
            }

            return status;
        };
        var sends = new List<(int Peer, int Number, Task<SendStatus> Sent)>[Senders];
        int sending = Senders;
        var threads = new TestThreads();
        for (int i = 0; i < Senders; i++)
        {
            int sender = i;
            sends[i] = [];
            threads.Start(() =>
            {
                Send(peers, sender, new Random((seed * 10) + sender), sends[sender]);
                Interlocked.Decrement(ref sending);
            });
        }

        threads.Start(() =>
        {
            var random = new Random(seed * 10 + Senders);
            while (Volatile.Read(ref sending) > 0)
            {
                peers[random.Next(peers.Length)].MakeRoom(random.Next(1, 4));
            }
        });
        await threads.JoinAsync(() => peers.Sum(static p => p.Count));
        Assert.All(peers, peer => Assert.False(peer.HasRoom && _core.BlockedSends.HasEarlierWaiter(new SendTarget(peer.RouteId)),
            $"a send to {peer} was forgotten, seed {seed}"));
        foreach (Peer peer in peers)
        {
            peer.MakeRoom(int.MaxValue / 2);
        }

        foreach ((int at, int number, Task<SendStatus> sent) in sends.SelectMany(static s => s))
        {
            await ((Task)sent).Guarded().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            Assert.True(sent.IsCompleted, $"a send to {peers[at]} waits though it has room, seed {seed}");
            Assert.True(sent.IsCanceled || sent.Result == SendStatus.Accepted, $"seed {seed}");
        }

        for (int i = 0; i < Senders; i++)
        {
            for (int at = 0; at < peers.Length; at++)
            {
                Assert.Equal(sends[i].Where(s => s.Peer == at && !s.Sent.IsCanceled).Select(static s => s.Number), peers[at].GotFrom(i));
            }
        }

        Assert.True(_core.BlockedSends.IsEmpty);
    }

    private void Send(Peer[] peers, int sender, Random random, List<(int Peer, int Number, Task<SendStatus> Sent)> sends)
    {
        for (int number = 0; number < PerSender; number++)
        {
            int at = random.Next(peers.Length);
            string text = string.Create(CultureInfo.InvariantCulture, $"{sender} {number}");
            SendStatus status = _core.TrySend(new SendTarget(peers[at].RouteId), new OutgoingMessage(Encoding.ASCII.GetBytes(text)));
            using var source = new CancellationTokenSource();
            sends.Add((at, number, status == SendStatus.Full ? _core.BlockedSends.Wait(text, peers[at].Id, source.Token)
                : Task.FromResult(status)));
            if (random.Next(4) == 0)
            {
                source.Cancel();
            }
        }
    }

    private sealed class Peer
    {
        private readonly Lock _gate = new();
        private readonly TestLink _link;
        private readonly TestCore _core;
        private readonly List<(int Sender, int Number)> _got = [];
        private int _room;

        public Peer(TestCore core, string? id)
        {
            _core = core;
            Id = id;
            _link = TestLink.Create(core, default);
            _link.RouteId = id is null ? null : Encoding.ASCII.GetBytes(id);
        }

        public string? Id { get; }

        public byte[] RouteId => _link.RouteId ?? [];

        public int Count
        {
            get
            {
                lock (_gate)
                {
                    return _got.Count;
                }
            }
        }

        public bool HasRoom
        {
            get
            {
                lock (_gate)
                {
                    return _room > 0;
                }
            }
        }

        public IEnumerable<int> GotFrom(int sender) => _got.Where(g => g.Sender == sender).Select(static g => g.Number);

        public SendStatus Take(byte[] payload, out bool isRead)
        {
            isRead = false;
            lock (_gate)
            {
                if (_room == 0)
                {
                    return SendStatus.Full;
                }

                int[] words = [.. Encoding.ASCII.GetString(payload).Split(' ')
                    .Select(static w => int.Parse(w, CultureInfo.InvariantCulture))];
                _got.Add((words[0], words[1]));
                _room--;
                isRead = _got.Count % 3 == 0;
                return SendStatus.Accepted;
            }
        }

        public void MakeRoom(int messages)
        {
            lock (_gate)
            {
                _room += messages;
            }

            _core.OnCapacity(_link);
        }

        public override string ToString() => Id ?? "the only peer";
    }
}
