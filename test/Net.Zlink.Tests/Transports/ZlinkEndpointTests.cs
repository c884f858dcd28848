using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class ZlinkEndpointTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:5555", "tcp", "127.0.0.1", 5555, "", "")]
    [InlineData("tcp://*:*", "tcp", "*", null, "", "")]
    [InlineData("tcp://[::1]:80", "tcp", "::1", 80, "", "")]
    [InlineData("tls://example.org:0", "tls", "example.org", null, "", "")]
    [InlineData("tcp://10.0.0.1:0;10.0.0.2:7", "tcp", "10.0.0.2", 7, "", "")]
    [InlineData("ws://host:80", "ws", "host", 80, "/", "")]
    [InlineData("wss://host:443/a/b?key=1", "wss", "host", 443, "/a/b", "key=1")]
    [InlineData("ws://host:80?key=1", "ws", "host", 80, "/", "key=1")]
    [InlineData("ws://host:80/@me", "ws", "host", 80, "/@me", "")]
    [InlineData("ipc:///tmp/a?b#c@d", "ipc", "", null, "/tmp/a?b#c@d", "")]
    [InlineData("inproc://a name", "inproc", "", null, "a name", "")]
    public void Parse_splits_an_endpoint_into_its_parts(string text, string scheme, string host, int? port, string path, string query)
    {
        ZlinkEndpoint endpoint = ZlinkEndpoint.Parse(text);

        Assert.Equal((text, scheme, host, port, path, query),
            (endpoint.Text, endpoint.Scheme, endpoint.Host, endpoint.Port, endpoint.Path, endpoint.Query));
        Assert.Equal(endpoint, ZlinkEndpoint.Parse(text));
    }

    [Theory]
    [InlineData("tcp://*:5555", true, false)]
    [InlineData("tcp://0.0.0.0:5555", true, true)]
    [InlineData("tcp://[::]:5555", true, true)]
    [InlineData("tcp://[::ffff:0:0]:5555", true, true)]
    [InlineData("tcp://127.0.0.1:*", false, false)]
    [InlineData("ipc://*", false, false)]
    [InlineData("inproc://a", false, true)]
    public void A_wildcard_is_told_from_a_place_to_connect_to(string text, bool isWildcardHost, bool canConnect)
    {
        ZlinkEndpoint endpoint = ZlinkEndpoint.Parse(text);

        Assert.Equal((isWildcardHost, canConnect), (endpoint.IsWildcardHost, endpoint.CanConnect));
    }

    [Theory]
    [InlineData("tcp://user:secret@host:5555", "tcp://…@host:5555")]
    [InlineData("tcp://user:se/cret@host:5555", "tcp://…@host:5555")]
    [InlineData("user:secret@host:5555", "…@host:5555")]
    [InlineData("http://user:secret@host/?token=secret", "http://…@host/?…")]
    [InlineData("ws://host:80/a?token=secret#secret", "ws://host:80/a?…")]
    [InlineData("ws://host:80/a#secret", "ws://host:80/a#…")]
    [InlineData("tcp://host:80#secret", "tcp://host:80#…")]
    [InlineData("tcp://host:80?secret", "tcp://host:80?…")]
    [InlineData("ws://host:80/@me?secret", "ws://host:80/@me?…")]
    [InlineData("tcp:/user:secret@host:5555", "…@host:5555")]
    [InlineData("tcp://tcp://user:secret@host:5555", "tcp://…@host:5555")]
    [InlineData("tcp://user:80/secret@host:5555", "tcp://…@host:5555")]
    [InlineData("ws://host:/user:secret@host:80", "ws://…@host:80")]
    [InlineData("user:secret@host://x", "…@host://x")]
    [InlineData("IPC://user:secret@host?secret", "IPC://…@host?…")]
    public void No_secret_is_shown_by_a_text_or_by_the_exception_that_refuses_it(string text, string shown)
    {
        Assert.Equal((shown, shown), (new RedactedEndpoint(text).ToString(), new RedactedEndpoint(shown).ToString()));
        if (ZlinkEndpoint.TryParse(text, out ZlinkEndpoint? endpoint))
        {
            Assert.Equal(shown, endpoint.ToString());
            return;
        }

        string[] refusals =
        [
            Assert.Throws<FormatException>(() => ZlinkEndpoint.Parse(text)).Message,
            RefusalOf(static (socket, text) => socket.Connect(text), text),
            RefusalOf(static (socket, text) => socket.Bind(text), text),
        ];
        Assert.All(refusals, refusal => Assert.Contains(shown, refusal, StringComparison.Ordinal));
        Assert.All(refusals, static refusal => Assert.DoesNotContain("cret", refusal, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:5555")]
    [InlineData("ipc:///tmp/a?b#c@d")]
    [InlineData("inproc://a?b")]
    [InlineData("")]
    public void A_text_without_a_secret_is_shown_whole_without_a_copy(string text) =>
        Assert.Same(text, new RedactedEndpoint(text).ToString());

    [Fact]
    public void A_redacted_endpoint_has_no_member_that_a_serializer_of_logs_could_read()
    {
        Assert.Empty(typeof(RedactedEndpoint).GetProperties());
        Assert.Empty(typeof(RedactedEndpoint).GetFields());
        Assert.Equal("", default(RedactedEndpoint).ToString());
        Assert.Throws<ArgumentNullException>(() => new RedactedEndpoint(null!));
    }

    [Fact]
    public void Each_text_is_an_endpoint_exactly_where_a_socket_takes_it() => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(500),
        Prop.ForAll(Arb.From(Gen.ArrayOf(Gen.Elements(
            "tcp", "ws", "ipc", "inproc", "://", "*", "host", ":", "80", "/", "?", "@", ";", "[::1]"))),
            static parts =>
            {
                string text = string.Concat(parts);
                bool isTaken = text.StartsWith("inproc://", StringComparison.Ordinal) ? text.Length > "inproc://".Length
                    : TransportTable.TryParseWire(text, EndpointUse.Bind, out _, out _)
                        || TransportTable.TryParseWire(text, EndpointUse.Connect, out _, out _);
                Assert.Equal(isTaken, ZlinkEndpoint.TryParse(text, out _));
            }));

    [Fact]
    public void A_text_that_is_no_endpoint_is_refused_with_what_to_write()
    {
        Assert.Contains("write tcp://host:port", Assert.Throws<FormatException>(() => ZlinkEndpoint.Parse("127.0.0.1:5555")).Message,
            StringComparison.Ordinal);
        Assert.Throws<ArgumentNullException>(() => ZlinkEndpoint.Parse(null!));
        Assert.False(ZlinkEndpoint.TryParse(null, out _));
    }

    private static string RefusalOf(Action<PairSocket, string> attach, string text)
    {
        using var context = new ZlinkContext();
        using PairSocket socket = context.CreatePair();
        return Assert.Throws<ZlinkException>(() => attach(socket, text)).Message;
    }
}
