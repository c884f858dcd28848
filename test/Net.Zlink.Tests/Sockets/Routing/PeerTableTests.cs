using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class PeerTableTests
{
    private readonly PeerTable<string> _table = new(firstGenerated: 0xFFFF_FFFE);

    private enum Kind
    {
        Add,
        Remove,
        Replace,
        Share,
        Generate,
    }

    [Fact]
    public void An_id_belongs_to_one_peer_until_that_peer_leaves()
    {
        Assert.True(_table.TryAdd("id"u8, "A", out byte[]? own));
        Assert.Equal("id"u8, own);
        Assert.False(_table.TryAdd("id"u8, "B", out byte[]? other));
        Assert.Null(other);
        Assert.Equal("A", Get("id"));
        Assert.False(_table.Remove("id"u8, "B"));
        Assert.True(_table.Remove("id"u8, "A"));
        Assert.Null(Get("id"));
        Assert.True(_table.TryAdd("id"u8, "B", out _));
        Assert.Equal("B", Get("id"));
    }

    [Fact]
    public void The_table_keeps_a_copy_of_the_id()
    {
        byte[] id = Bytes("id");
        _table.TryAdd(id, "A", out _);
        id[0] = (byte)'x';
        Assert.Equal("A", Get("id"));
        Assert.Null(Get("xd"));
    }

    [Fact]
    public void After_a_handover_the_id_is_the_newcomers_and_the_old_peer_cannot_free_it()
    {
        _table.TryAdd("id"u8, "A", out byte[]? old);
        Assert.Equal("A", Get("id"));
        Assert.Equal("A", _table.Replace("id"u8, "B", out byte[] own));
        Assert.Equal(old, own);
        Assert.Equal("B", Get("id"));
        Assert.False(_table.Remove("id"u8, "A"));
        Assert.Equal("B", Get("id"));
        Assert.Single(_table.Peers);
        Assert.Null(_table.Replace("new"u8, "C", out own));
        Assert.Equal("new"u8, own);
    }

    [Fact]
    public void A_shared_id_finds_the_newest_peer_and_is_free_when_the_last_one_has_left()
    {
        byte[] own = _table.AddNewest("id"u8, "A");
        Assert.Equal("id"u8, own);
        Assert.Same(own, _table.AddNewest("id"u8, "B"));
        Assert.Same(own, _table.AddNewest("id"u8, "C"));
        Assert.Equal("C", Get("id"));
        Assert.Equal(["C"], _table.Peers, StringComparer.Ordinal);
        Assert.False(_table.Remove("id"u8, "B"));
        Assert.Equal("C", Get("id"));
        Assert.False(_table.Remove("id"u8, "C"));
        Assert.Equal("A", Get("id"));
        Assert.False(_table.TryAdd("id"u8, "D", out _));
        Assert.True(_table.Remove("id"u8, "A"));
        Assert.Null(Get("id"));
        Assert.Empty(_table.Peers);
    }

    [Fact]
    public void Generated_ids_count_up_big_endian_wrap_around_and_skip_what_is_taken()
    {
        _table.TryAdd([0, 0xFF, 0xFF, 0xFF, 0xFF], "chosen", out _);
        _table.TryAdd([0, 0, 0, 0, 1], "chosen too", out _);
        Assert.Equal([0, 0xFF, 0xFF, 0xFF, 0xFE], _table.AddGenerated("A"));
        Assert.Equal([0, 0, 0, 0, 0], _table.AddGenerated("B"));
        Assert.Equal([0, 0, 0, 0, 2], _table.AddGenerated("C"));
        Assert.Equal("C", Get("\0\0\0\0\u0002"));
        Assert.Equal(5, _table.Peers.Count);
    }

    [Fact]
    public void Two_tables_start_their_generated_ids_apart()
    {
        // Equal by chance once in 2^96.
        string[] ids = [.. Enumerable.Range(0, 4).Select(static _ => Text(new PeerTable<string>().AddGenerated("A")))];
        Assert.True(ids.Distinct(StringComparer.Ordinal).Count() > 1);
    }

    [Fact]
    public void Ids_that_differ_anywhere_are_told_apart()
    {
        string[] ids = [.. Enumerable.Range(1, 255)
            .SelectMany(static length => (string[])[new('x', length), new string('x', length - 1) + "y",
            "y" + new string('x', length - 1)]).Distinct(StringComparer.Ordinal)];
        foreach (string id in ids)
        {
            Assert.True(_table.TryAdd(Bytes(id), id, out _));
        }

        foreach (string id in ids)
        {
            Assert.Equal(id, Get(id));
        }
    }

    [Fact]
    public void Lookups_allocate_nothing_for_the_same_peer_and_for_another_each_time()
    {
        byte[][] ids = [.. Enumerable.Range(0, 100).Select(static i => Bytes($"peer {i}"))];
        foreach (byte[] id in ids)
        {
            _table.TryAdd(id, Text(id), out _);
        }

        int next = 0;
        Assert.Equal(0, Allocations.Of(() =>
        {
            byte[] id = ids[next++ % ids.Length];
            Assert.True(_table.TryGet(id, out _));
            Assert.True(_table.TryGet(id.AsSpan(), out _));
            Assert.False(_table.TryGet("nobody"u8, out _));
        }));
    }

    [Fact]
    public void A_table_answers_as_a_dictionary_of_texts_does()
    {
        Gen<string> ids = Gen.Frequency((5, Gen.Elements("a", "b", "ab", "ba")),
            (1, Gen.Elements("\0\u00FF\u00FF\u00FF\u00FE", "\0\u00FF\u00FF\u00FF\u00FF", "\0\0\0\0\0")));
        Gen<(Kind Kind, string Id, string Other, string Peer)> operation =
            from k in Gen.Elements(Enum.GetValues<Kind>())
            from id in ids
            from other in ids
            from peer in Gen.Elements("A", "B", "C")
            select (k, id, other, peer);
        ForAllArrays(operation, 500, static operations =>
        {
            var test = new PeerTableTests();
            Dictionary<string, List<string>> model = new(StringComparer.Ordinal);
            foreach ((Kind kind, string id, string other, string peer) in operations)
            {
                test.Run(model, kind, id, peer);
                Assert.Equal(model.GetValueOrDefault(other)?[^1], test.Get(other));
                Assert.Equal(model.GetValueOrDefault(id)?[^1], test.Get(id));
                Assert.Equal(model.Count, test._table.Peers.Count);
                Assert.Equal(model.Values.Select(static peers => peers[^1]).Order(StringComparer.Ordinal),
                    test._table.Peers.Order(StringComparer.Ordinal));
            }
        });
    }

    /// <param name="model">Who has each id, the newest last.</param>
    /// <param name="kind">What is done.</param>
    /// <param name="id">To which id.</param>
    /// <param name="peer">For whom.</param>
    private void Run(Dictionary<string, List<string>> model, Kind kind, string id, string peer)
    {
        List<string> peers = model.GetValueOrDefault(id, []);
        switch (kind)
        {
            case Kind.Add:
                Assert.Equal(model.TryAdd(id, [peer]), _table.TryAdd(Bytes(id), peer, out _));
                break;
            case Kind.Remove:
                int place = peers.LastIndexOf(peer);
                if (place >= 0)
                {
                    peers.RemoveAt(place);
                }

                Assert.Equal(peers.Count == 0 && model.Remove(id), _table.Remove(Bytes(id), peer));
                break;
            case Kind.Replace when !peers.SkipLast(1).Contains(peer, StringComparer.Ordinal):
                Assert.Equal(peers.LastOrDefault(), _table.Replace(Bytes(id), peer, out byte[] own));
                Assert.Equal(id, Text(own));
                model[id] = [.. peers.SkipLast(1), peer];
                break;
            case Kind.Share when !peers.Contains(peer, StringComparer.Ordinal):
                Assert.Equal(id, Text(_table.AddNewest(Bytes(id), peer)));
                model[id] = [.. peers, peer];
                break;
            case Kind.Generate:
                string generated = Text(_table.AddGenerated(peer));
                Assert.StartsWith("\0", generated, StringComparison.Ordinal);
                Assert.True(model.TryAdd(generated, [peer]));
                break;
        }
    }

    private string? Get(string id) => _table.TryGet(Bytes(id), out string? peer) ? peer : null;
}
