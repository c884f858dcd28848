using System.Globalization;
using System.Text;
using Net.Zlink.Porting;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>Options by their native numbers: what each is, what it takes, and how it refuses.</summary>
public sealed class NativeOptionsTests
{
    // Every number of the native header.
    private static readonly int[] Numbers =
    [
        4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 27, 28, 32, 33, 34, 35, 36, 37, 39, 40, 42, 51, 54, 56,
            57, 61, 66, 69, 71, 72, 74, 75, 76, 77, 78, 79, 80, 84,
        89, 90, 91, 92, 95, 96, 97, 98, 99, 100, 101, 102, 108, 116, 117,
    ];

    [Fact]
    public void Every_native_number_is_in_the_table_and_no_other()
    {
        Assert.Equal(Numbers, NativeOptionTable.Rows.Select(static r => r.Number).Distinct().Order());
        Assert.Equal(NativeOptionTable.Rows.Select(static r => r.Number), NativeOptionTable.Rows.Select(static r => r.Number).Order());
    }

    [Fact]
    public void The_table_for_people_has_a_line_for_every_option_that_names_the_same_property_or_a_reason()
    {
        string[] all = File.ReadAllLines(Path.Combine(SourceTree.Root, "docs", "options.md"));
        int contexts = Array.IndexOf(all, "## Contexts");
        string[] lines = all[..contexts];
        foreach (NativeOption row in NativeOptionTable.Rows)
        {
            string start = string.Create(CultureInfo.InvariantCulture, $"| {row.Number} | {row.Name} |");
            string line = Assert.Single(lines, l => l.StartsWith(start, StringComparison.Ordinal));
            foreach (string property in row.Property.Split(", "))
            {
                Assert.Contains(property, line, StringComparison.Ordinal);
            }

            Assert.Equal(row.Gap is not null, line.Contains("| none |", StringComparison.Ordinal));
        }

        foreach ((int number, (string name, _)) in NativeOptions.ContextGaps)
        {
            Assert.Single(all[contexts..], l => l.StartsWith(
                string.Create(CultureInfo.InvariantCulture, $"| {number} | {name} |"), StringComparison.Ordinal));
        }
    }

    [Theory]
    [InlineData(11, -1, 5000)]
    [InlineData(12, -1, 5000)]
    [InlineData(17, -1, 250)]
    [InlineData(18, 100, 60_000)]
    [InlineData(19, 4096, 7)] // Natively 100: docs/options.md.
    [InlineData(21, 0, 400)]
    [InlineData(23, 300_000, 5)]
    [InlineData(24, 300_000, 5)]
    [InlineData(27, -1, 250)]
    [InlineData(28, -1, 0)]
    [InlineData(34, -1, 1)]
    [InlineData(35, -1, 4)]
    [InlineData(36, -1, 60)]
    [InlineData(37, -1, 5)]
    [InlineData(39, 0, 1)]
    [InlineData(42, 0, 1)]
    [InlineData(54, 0, 1)]
    [InlineData(57, 0, 0x28)]
    [InlineData(66, 30_000, 100)]
    [InlineData(75, 0, 500)]
    [InlineData(76, 0, 300)]
    [InlineData(77, -1, 700)]
    [InlineData(79, 0, 1500)]
    [InlineData(80, 0, 9000)]
    [InlineData(117, 0, 1)]
    public async Task An_int_option_has_the_native_default_and_reads_back_what_was_set(int number, int native, int other)
    {
        await using var context = new ZlinkContext();
        using DealerSocket socket = context.CreateDealer();
        Assert.Equal(native, NativeOptions.GetInt32(socket, number));
        NativeOptions.Set(socket, number, other);
        Assert.Equal(other, NativeOptions.GetInt32(socket, number));
    }

    [Theory]
    [InlineData(17)]
    [InlineData(27)]
    [InlineData(28)]
    public async Task Minus_one_is_for_ever_also_where_another_time_was_set_before(int number)
    {
        await using var context = new ZlinkContext();
        using DealerSocket socket = context.CreateDealer();
        NativeOptions.Set(socket, number, 250);
        NativeOptions.Set(socket, number, -1);
        Assert.Equal(-1, NativeOptions.GetInt32(socket, number));
    }

    [Theory]
    [InlineData(11, -2)]
    [InlineData(17, -2)]
    [InlineData(18, -2)]
    [InlineData(19, -1)]
    [InlineData(21, -1)]
    [InlineData(23, -1)]
    [InlineData(27, -2)]
    [InlineData(34, 2)]
    [InlineData(34, -2)]
    [InlineData(35, -2)]
    [InlineData(39, 2)]
    [InlineData(39, -1)]
    [InlineData(42, 2)]
    [InlineData(51, -1)]
    [InlineData(57, -1)]
    [InlineData(57, 256)]
    [InlineData(66, -1)]
    [InlineData(75, -1)]
    [InlineData(76, -100)]
    [InlineData(76, 6_553_600)]
    [InlineData(77, -1)]
    [InlineData(79, -1)]
    [InlineData(80, -1)]
    [InlineData(117, 2)]
    [InlineData(15, 1)] // can only be read
    [InlineData(16, 1)]
    [InlineData(33, 1)] // ROUTER's
    [InlineData(56, 1)]
    [InlineData(69, 1)]
    [InlineData(71, 1)]
    [InlineData(61, 1)]
    [InlineData(70, 1)] // the context's
    [InlineData(3, 1)]
    [InlineData(0, 1)]
    [InlineData(1000, 1)]
    public async Task A_value_that_the_native_core_refuses_is_an_invalid_argument_and_changes_no_option(int number, int value)
    {
        await using var context = new ZlinkContext();
        using DealerSocket socket = context.CreateDealer();
        string before = Snapshot(socket);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, number, value)).Error);
        Assert.Equal(before, Snapshot(socket));
    }

    [Fact]
    public async Task Sizes_have_to_be_right()
    {
        await using var context = new ZlinkContext();
        using DealerSocket socket = context.CreateDealer();
        foreach (int size in new[] { 0, 1, 3, 5, 8 })
        {
            Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 17, new byte[size]))
                .Error);
            Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Get(socket, 17, new byte[size]))
                .Error);
        }

        // EVENTS takes a longer buffer, and zeroes what it does not need.
        byte[] longer = [.. Enumerable.Repeat((byte)0xFF, 8)];
        Assert.Equal(4, NativeOptions.Get(socket, 15, longer));
        Assert.All(longer, static b => Assert.Equal(0, b));
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Get(socket, 15, new byte[3])).Error);

        // 64-bit options take 8 bytes.
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 22, 1)).Error);
        NativeOptions.Set(socket, 22, BitConverter.GetBytes(1L << 33));
        Assert.Equal(1L << 33, socket.Options.MaxMessageSize);
        byte[] limit = new byte[8];
        Assert.Equal(8, NativeOptions.Get(socket, 22, limit));
        Assert.Equal(1L << 33, BitConverter.ToInt64(limit));
        NativeOptions.Set(socket, 4, BitConverter.GetBytes(1UL));
        Assert.Equal(1UL, socket.Options.ShardAffinity);
    }

    [Fact]
    public async Task The_routing_id_is_16_random_bytes_until_it_is_set_to_1_to_255()
    {
        await using var context = new ZlinkContext();
        using PairSocket socket = context.CreatePair();
        byte[] buffer = new byte[255];
        Assert.Equal(16, NativeOptions.Get(socket, 5, buffer));
        Assert.Equal((0x40, 0x80), (buffer[6] & 0xF0, buffer[8] & 0xC0));
        NativeOptions.Set(socket, 5, [0, 1]);
        Assert.Equal(2, NativeOptions.Get(socket, 5, buffer));
        Assert.Equal([0, 1, 0], buffer[..3]);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 5, [])).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 5, new byte[256])).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Get(socket, 5, new byte[1])).Error);
    }

    [Fact]
    public async Task Text_is_read_with_its_closing_zero()
    {
        await using var context = new ZlinkContext();
        using PairSocket socket = context.CreatePair();
        byte[] buffer = new byte[64];
        Assert.Equal(1, NativeOptions.Get(socket, 32, buffer));
        string endpoint = socket.Bind("tcp://127.0.0.1:0");
        Assert.Equal(endpoint.Length + 1, NativeOptions.Get(socket, 32, buffer));
        Assert.Equal(endpoint + "\0", Encoding.UTF8.GetString(buffer, 0, endpoint.Length + 1));
        NativeOptions.Set(socket, 92, "lo"u8);
        Assert.Equal("lo", socket.Options.BindToDevice);
        NativeOptions.Set(socket, 92, []);
        Assert.Equal("", socket.Options.BindToDevice);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 92, new byte[17])).Error);
    }

    [Fact]
    public async Task Flags_of_the_types_cannot_be_read_and_take_anything_from_0_on()
    {
        await using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter();
        NativeOptions.Set(router, 33, 7);
        NativeOptions.Set(router, 56, 1);
        NativeOptions.Set(router, 51, 1);
        Assert.True(router.Options is { Mandatory: true, OnDuplicateRoutingId: DuplicateRoutingId.Replace, ProbeRouter: true });
        NativeOptions.Set(router, 33, 0);
        Assert.False(router.Options.Mandatory);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.GetInt32(router, 33)).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(router, 33, -1)).Error);
    }

    [Fact]
    public async Task Verboser_and_verbose_undo_each_other_as_natively_and_98_is_manual_last_value_on_XPUB_only()
    {
        await using var context = new ZlinkContext();
        using XPubSocket xpub = context.CreateXPub();
        NativeOptions.Set(xpub, 78, 1);
        Assert.Equal(SubscriptionNotices.All, xpub.Options.Notices);
        NativeOptions.Set(xpub, 40, 1);
        Assert.Equal(SubscriptionNotices.AllSubscriptions, xpub.Options.Notices);
        NativeOptions.Set(xpub, 98, 1);
        Assert.True(xpub.Options is { Manual: true, ManualLastValue: true });
        NativeOptions.Set(xpub, 6, "a"u8);
        NativeOptions.Set(xpub, 98, 0);
        Assert.True(xpub.Options is { Manual: false, ManualLastValue: false });
        // not in manual mode
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(xpub, 6, "a"u8)).Error);
        NativeOptions.Set(xpub, 98, 1);
        NativeOptions.Set(xpub, 71, 1);
        Assert.True(xpub.Options is { Manual: true, ManualLastValue: true });
        NativeOptions.Set(xpub, 71, 0);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(xpub, 6, "a"u8)).Error);
        NativeOptions.Set(xpub, 72, "welcome"u8);
        Assert.Equal("welcome"u8.ToArray(), xpub.Options.WelcomeMessage.ToArray());
        using SubSocket sub = context.CreateSub();
        Assert.True(sub.Options.Tls.VerifyPeer);
        NativeOptions.Set(sub, 98, 0);
        Assert.False(sub.Options.Tls.VerifyPeer); // natively one number for two options
    }

    [Fact]
    public async Task The_files_of_TLS_are_texts_of_at_most_256_bytes_and_an_empty_one_clears_them()
    {
        await using var context = new ZlinkContext();
        using StreamSocket socket = context.CreateStream();
        NativeOptions.Set(socket, 95, "/a.crt"u8);
        NativeOptions.Set(socket, 96, "/a.key"u8);
        NativeOptions.Set(socket, 97, "/ca.crt"u8);
        NativeOptions.Set(socket, 99, 1);
        NativeOptions.Set(socket, 100, "localhost"u8);
        NativeOptions.Set(socket, 101, 0);
        NativeOptions.Set(socket, 102, "secret"u8);
        TlsOptions tls = socket.Options.Tls;
        Assert.Equal(("/a.crt", "/a.key", "/ca.crt", "localhost", "secret"),
            (tls.CertificateFile, tls.KeyFile, tls.CaFile, tls.HostName, tls.KeyPassword));
        Assert.True(tls is { RequireClientCertificate: true, TrustSystem: false });
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 95, new byte[257])).Error);
        NativeOptions.Set(socket, 95, []);
        Assert.Equal("", tls.CertificateFile);
    }

    [Fact]
    public async Task Subscribing_by_number_is_subscribing()
    {
        await using var context = new ZlinkContext();
        using SubSocket sub = context.CreateSub();
        using XSubSocket xsub = context.CreateXSub();
        Assert.Equal(0, NativeOptions.GetInt32(sub, 17));
        NativeOptions.Set(sub, 6, "a"u8);
        NativeOptions.Set(sub, 6, []);
        Assert.Equal(2, NativeOptions.GetInt32(sub, 116));
        NativeOptions.Set(sub, 7, "a"u8);
        Assert.Equal(1, NativeOptions.GetInt32(sub, 116));
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(xsub, 6, "a"u8)).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(sub, 108, 1)).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(xsub, 108, 1)).Error);
    }

    [Theory]
    [InlineData(8)]
    [InlineData(13)]
    [InlineData(14)]
    [InlineData(25)]
    [InlineData(89)]
    [InlineData(90)]
    [InlineData(91)]
    public async Task An_option_that_means_nothing_here_is_refused_with_the_reason(int number)
    {
        await using var context = new ZlinkContext();
        using PairSocket socket = context.CreatePair();
        ZlinkException set = Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, number, 1));
        ZlinkException get = Assert.Throws<ZlinkException>(() => NativeOptions.GetInt32(socket, number));
        Assert.Equal((ZlinkError.NotSupported, ZlinkError.NotSupported), (set.Error, get.Error));
        Assert.Contains(NativeOptionTable.Rows.Last(r => r.Number == number).Gap!, set.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_name_of_the_next_peer_is_given_when_a_ROUTER_connects_and_not_by_number()
    {
        await using var context = new ZlinkContext();
        ZlinkException refused = Assert.Throws<ZlinkException>(() => NativeOptions.Set(context.CreateRouter(), 61, "server"u8));
        Assert.Equal(ZlinkError.NotSupported, refused.Error);
        Assert.Contains("RouterSocket.Connect(endpoint, peerRoutingId)", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_options_of_a_socket_that_has_ended_can_still_be_read()
    {
        await using var context = new ZlinkContext();
        DealerSocket socket = context.CreateDealer();
        socket.Dispose();
        Assert.Equal(5, NativeOptions.GetInt32(socket, 16));
    }

    [Fact]
    public async Task STREAM_has_the_options_of_its_transport_and_refuses_those_of_ZMP()
    {
        await using var context = new ZlinkContext();
        using StreamSocket socket = context.CreateStream();
        Assert.Equal((11, 65_536, 2), (NativeOptions.GetInt32(socket, 16), NativeOptions.GetInt32(socket, 19),
            NativeOptions.GetInt32(socket, 15)));
        NativeOptions.Set(socket, 23, 17);
        Assert.Equal(17, socket.Options.SendHighWaterMark);
        Assert.Equal(ZlinkError.NotSupported, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 61, "a"u8)).Error);
        NativeOptions.Set(socket, 66, 300);
        Assert.Equal(TimeSpan.FromMilliseconds(300), socket.Options.HandshakeInterval);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 33, 1)).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(socket, 51, 1)).Error);
    }

    [Fact]
    public async Task A_fresh_socket_says_its_type_and_what_it_could_do_now()
    {
        await using var context = new ZlinkContext();
        (ZmpSocket Socket, int Type, int Events)[] fresh =
        [
            (context.CreatePair(), 0, 0), (context.CreatePub(), 1, 2), (context.CreateSub(), 2, 0), (context.CreateDealer(), 5, 0),
                (context.CreateRouter(), 6, 2),
            (context.CreateRouter(new RouterOptions { Mandatory = true }), 6, 0), (context.CreateXPub(), 9, 2),
                (context.CreateXSub(), 10, 2),
        ];
        foreach ((ZmpSocket socket, int type, int events) in fresh)
        {
            Assert.Equal((type, events), (NativeOptions.GetInt32(socket, 16), NativeOptions.GetInt32(socket, 15)));
        }
    }

    private static string Snapshot(DealerSocket socket) =>
        string.Join(' ', NativeOptionTable.Rows.Where(static r => r.Kind == NativeKind.Int32 && r.GetNumber is not null && r.Number != 116)
            .Select(r => r.Fits(socket) ? r.GetNumber!(socket) : 0));
}
