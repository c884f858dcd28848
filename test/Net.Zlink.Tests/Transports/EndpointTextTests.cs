using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class EndpointTextTests
{
    private const string Ok = nameof(ZlinkError.None);
    private const string Invalid = nameof(ZlinkError.InvalidArgument);
    private const string Unknown = nameof(ZlinkError.ProtocolNotSupported);

    // text, what bind says, what connect says
    public static TheoryData<string, string, string> Table => new()
    {
        // no scheme, no rest, or not ours
        { "", Invalid, Invalid },
        { "tcp", Invalid, Invalid },
        { "tcp:", Invalid, Invalid },
        { "tcp:/127.0.0.1:5555", Invalid, Invalid },
        { "127.0.0.1:5555", Invalid, Invalid },
        { "://127.0.0.1:5555", Invalid, Invalid },
        { "tcp://", Invalid, Invalid },
        { "udp://127.0.0.1:5555", Unknown, Unknown },
        { "TCP://127.0.0.1:5555", Unknown, Unknown },
        { " tcp://127.0.0.1:5555", Unknown, Unknown },
        { "tcp\0://127.0.0.1:5555", Unknown, Unknown },

        // ports
        { "tcp://127.0.0.1", Invalid, Invalid },
        { "tcp://127.0.0.1:", Invalid, Invalid },
        { "tcp://127.0.0.1:port", Invalid, Invalid },
        { "tcp://127.0.0.1:70000", Invalid, Invalid },
        { "tcp://127.0.0.1:65536", Invalid, Invalid },
        { "tcp://127.0.0.1:99999999999999999999", Invalid, Invalid },
        { "tcp://127.0.0.1:-5", Invalid, Invalid },
        { "tcp://127.0.0.1:+5", Invalid, Invalid },
        { "tcp://127.0.0.1:-", Invalid, Invalid },
        { "tcp://127.0.0.1:99 ", Invalid, Invalid },
        { "tcp://127.0.0.1: 99", Invalid, Invalid },
        { "tcp://127.0.0.1:5555/path", Invalid, Invalid },
        { "tcp://127.0.0.1:0x50", Invalid, Invalid },
        { "tcp://127.0.0.1:٣٣", Invalid, Invalid },
        { "tcp://127.0.0.1:**", Invalid, Invalid },
        { "tcp://127.0.0.1:*", Ok, Invalid },
        { "tcp://127.0.0.1:0", Ok, Ok },
        { "tcp://127.0.0.1:65535", Ok, Ok },
        { "tcp://127.0.0.1:05555", Ok, Ok },

        // IPv4
        { "tcp://:5555", Invalid, Invalid },
        { "tcp://*:5555", Ok, Invalid },
        { "tcp://*:*", Ok, Invalid },
        { "tcp://0.0.0.0:5555", Ok, Ok },
        { "tcp://256.0.0.1:5555", Invalid, Invalid },
        { "tcp://127.1:5555", Invalid, Invalid },
        { "tcp://1.2.3.4.5:5555", Invalid, Invalid },
        { "tcp://010.0.0.1:5555", Invalid, Invalid },
        { "tcp://127.0.0.1.:5555", Invalid, Invalid },
        { "tcp://2130706433:5555", Invalid, Invalid },
        { "tcp://127.0.0.1:5555:6666", Invalid, Invalid },

        // IPv6: whether it may be used is found out when resolving
        { "tcp://[::1]:5555", Ok, Ok },
        { "tcp://::1:5555", Ok, Ok },
        { "tcp://[::]:*", Ok, Invalid },
        { "tcp://[::ffff:127.0.0.1]:5555", Ok, Ok },
        { "tcp://[fe80::1%eth0]:5555", Ok, Ok },
        { "tcp://[fe80::1%3]:5555", Ok, Ok },
        { "tcp://fe80::1%lo:5555", Ok, Ok },
        { "tcp://[fe80::1%]:5555", Invalid, Invalid },
        { "tcp://[fe80::1%e h]:5555", Invalid, Invalid },
        { "tcp://[::1]", Invalid, Invalid },
        { "tcp://[::1]5555", Invalid, Invalid },
        { "tcp://[::1:5555", Invalid, Invalid },
        { "tcp://::1]:5555", Invalid, Invalid },
        { "tcp://[]:5555", Invalid, Invalid },
        { "tcp://[1::2::3]:5555", Invalid, Invalid },
        { "tcp://[12345::1]:5555", Invalid, Invalid },
        { "tcp://[127.0.0.1]:5555", Invalid, Invalid },
        { "tcp://[localhost]:5555", Invalid, Invalid },

        // names: whether they exist is found out when resolving
        { "tcp://localhost:5555", Ok, Ok },
        { "tcp://no-such-name.example:5555", Ok, Ok },
        { "tcp://eth0.100:5555", Ok, Ok },
        { "tcp://_gateway:5555", Ok, Invalid },
        { "tcp://-x:5555", Ok, Invalid },
        { "tcp://vEthernet (WSL):5555", Ok, Invalid },
        { "tcp://bücher.example:5555", Ok, Invalid },
        { "tcp:// localhost:5555", Invalid, Invalid },
        { "tcp://local\thost:5555", Invalid, Invalid },
        { "tcp://user@host/x:5555", Invalid, Invalid },
        { "tcp://tcp://localhost:5555", Invalid, Invalid },
        { "tcp://127.0.0.1%lo:5555", Invalid, Invalid },

        // source addresses
        { "tcp://127.0.0.1:0;127.0.0.1:5555", Invalid, Ok },
        { "tcp://127.0.0.1:*;127.0.0.1:5555", Invalid, Ok },
        { "tcp://lo:4444;localhost:5555", Invalid, Ok },
        { "tcp://[::1]:0;[::1]:5555", Invalid, Ok },
        { "tcp://127.0.0.1;127.0.0.1:5555", Invalid, Invalid },
        { "tcp://*:0;127.0.0.1:5555", Invalid, Invalid },
        { "tcp://;127.0.0.1:5555", Invalid, Invalid },
        { "tcp://127.0.0.1:0;", Invalid, Invalid },
        { "tcp://127.0.0.1:0;;127.0.0.1:5555", Invalid, Invalid },
        { "tcp://127.0.0.1:0;127.0.0.1:0;127.0.0.1:5555", Invalid, Invalid },
        { "tcp://127.0.0.1:70000;127.0.0.1:5555", Invalid, Invalid },
    };

    [Theory]
    [MemberData(nameof(Table))]
    public void Nonsense_is_told_from_sense_without_any_lookup(string text, string bind, string connect)
    {
        Assert.Equal(bind, TcpTest.BindError(text).Code.ToString());
        Assert.Equal(connect, TcpTest.ConnectError(text).Code.ToString());
    }

    [Theory]
    [MemberData(nameof(Table))]
    public void Every_fault_comes_with_one_sentence(string text, string bind, string connect)
    {
        foreach (var (error, expected) in new[] { (TcpTest.BindError(text), bind), (TcpTest.ConnectError(text), connect) })
        {
            Assert.Equal(!string.Equals(expected, Ok, StringComparison.Ordinal), TcpTest.IsOneLine(error.Sentence));
        }
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:70000", "port 70000 is outside 0..65535; use 0 or * for any free port")]
    [InlineData("tcp://127.0.0.1:-5", "port -5 is outside 0..65535; use 0 or * for any free port")]
    [InlineData("tcp://127.0.0.1:x", "port \"x\" is not a number; use 0 or * for any free port")]
    [InlineData("tcp://:5555", "there is no host before the port; use * for every address of this machine")]
    [InlineData("tcp://127.1:5", "\"127.1\" is not an IPv4 address; write four numbers of 0..255, as in 127.0.0.1")]
    [InlineData("nonsense",
        "there is no \"://\" in it; write tcp://host:port, ipc://path, inproc://name (not for STREAM), tls://host:port, "
        + "ws://host:port/path or wss://host:port/path")]
    [InlineData("TCP://*:5555", "the scheme \"TCP\" must be in lower case; write tcp://host:port")]
    [InlineData("udp://*:5555",
        "the scheme \"udp\" is not supported; use tcp://host:port, ipc://path, inproc://name (not for STREAM), tls://host:port, "
        + "ws://host:port/path or wss://host:port/path")]
    public void The_sentence_says_what_to_do(string text, string sentence) => Assert.Equal(sentence, TcpTest.BindError(text).Sentence);

    [Fact]
    public void A_long_text_is_cut_in_the_sentence_and_control_characters_are_not_repeated()
    {
        var sentence = TcpTest.ConnectError($"tcp://{new string('x', 100_000)}\n:1").Sentence;
        Assert.True(TcpTest.IsOneLine(sentence), sentence);
        Assert.DoesNotContain("\u001b", TcpTest.BindError("tcp://\u001b[2J:1").Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_name_longer_than_any_name_can_be_is_malformed()
    {
        Assert.Equal(ZlinkError.None, TcpTest.BindError($"tcp://{new string('x', 255)}:1").Code);
        Assert.Equal(ZlinkError.InvalidArgument, TcpTest.BindError($"tcp://{new string('x', 256)}:1").Code);
    }

    [Fact]
    public void Any_text_gets_an_answer_and_every_refusal_a_sentence() =>
        Prop.ForAll<string>(text => Answers(text ?? "")).Check(Config.QuickThrowOnFailure.WithMaxTest(500));

    [Fact]
    public void Any_text_of_the_letters_that_endpoints_are_made_of_gets_an_answer()
    {
        var letters = Gen.Elements("01259afz:[]%;*.-_ /".ToCharArray());
        var detachedLanes = letters.ArrayOf().Select(static rest => "tcp://" + new string(rest)).ToArbitrary();
        Prop.ForAll(detachedLanes, Answers).Check(Config.QuickThrowOnFailure.WithMaxTest(2_000));
    }

    private static bool Answers(string text)
    {
        foreach (var error in new[] { TcpTest.BindError(text), TcpTest.ConnectError(text) })
        {
            if (error.Code == ZlinkError.None ? error.Sentence.Length != 0 : !TcpTest.IsOneLine(error.Sentence))
            {
                return false;
            }
        }

        return true;
    }
}
