using System.Text.RegularExpressions;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Porting;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Texts of endpoints, good and bad: with which error they are refused, and by which name they are known afterwards.</summary>
public sealed partial class EndpointTextTests
{
    // Not among them, what ours refuses and the native core does not (docs/PortingGuide.md, "Waiting and errors").
    private static readonly string[] s_texts =
    [
        "", "tcp", "tcp:", "tcp:/", "tcp://", "://", "://127.0.0.1:0", "tcp:127.0.0.1:0", "TCP://127.0.0.1:0", "udp://127.0.0.1:0",
            "foo://x", "pgm://x", "tcp ://127.0.0.1:0",
        "tcp://*", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://127.0.0.1:x", "tcp://127.0.0.1:0/path",
        "ipc://", "ipc://@",
            "ipc://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "inproc://", "ws://127.0.0.1", "ws://127.0.0.1:x", "ws://", "wss://", "tls://", "tls://127.0.0.1:x",
    ];

    private static readonly string[] s_toBind =
    [
        "tcp://*:0", "tcp://*:*", "tcp://127.0.0.1:0", "tcp://127.0.0.1:*", "tcp://localhost:0", "tcp://lo:0", "tcp://[::1]:0",
            "tcp://::1:0", "tcp://[::]:0", "tcp://no.such.name.invalid:0",
        "tcp://no.such.name.invalid:1", "tcp://203.0.113.1:0", "ipc:///no/such/folder/x", "ws://127.0.0.1:0", "ws://127.0.0.1:0/",
            "ws://127.0.0.1:0/a/b", "ws://*:0", "ws://*:*", "ws://localhost:0",
        "ws://[::1]:0", "ws://no.such.name.invalid:1", "tls://127.0.0.1:0", "tls://*:0", "tls://localhost:0",
    ];

    private static readonly string[] s_toConnect =
    [
        "tcp://127.0.0.1:0", "tcp://*:0", "tcp://*:9", "tcp://127.0.0.1:9", "tcp://localhost:9", "tcp://no.such.name.invalid:1",
            "tcp://[::1]:9", "tcp://127.0.0.1:0;127.0.0.1:9", "tcp://127.0.0.1:1 ", "tcp:// 127.0.0.1:1",
        "ipc:///no/such/folder/x", "ipc://@zlink-nobody", "inproc://a", "inproc://a/b:c d", "inproc://*", "ws://127.0.0.1:9",
            "ws://127.0.0.1:9/p", "ws://localhost:9", "ws://*:9", "ws://:9",
        "wss://127.0.0.1:9", "wss://127.0.0.1:9/p", "tls://127.0.0.1:9", "tls://localhost:9",
    ];

    public static IEnumerable<TheoryDataRow<NativeSocketType, bool>> Rows() =>
        [new(NativeSocketType.Dealer, true), new(NativeSocketType.Dealer, false), new(NativeSocketType.Stream, true)];

    [NativeTheory]
    [MemberData(nameof(Rows))]
    public void Are_taken_refused_and_named_as_natively(NativeSocketType type, bool binds)
    {
        using var nativeContext = new NativeContext();
        using var context = new ZlinkContext();
        List<string> differences = [];
        foreach (string text in s_texts.Concat(binds ? s_toBind : s_toConnect))
        {
            string native = Native(nativeContext, type, text, binds);
            string ours = Ours(context, type, text, binds);
            if (!string.Equals(native, ours, StringComparison.Ordinal))
            {
                differences.Add($"'{text}': natively {native}, ours {ours}");
            }
        }

        Assert.True(differences.Count == 0, string.Join('\n', differences));
    }

    // Without a monitor: natively a failed bind leaves the error of the monitor's message.
    private static string Native(NativeContext context, NativeSocketType type, string text, bool binds)
    {
        using NativeSocket socket = context.CreateSocket(type);
        socket.SetOption(NativeOption.Linger, 0);
        return Account(binds ? () => socket.Bind(text) : () => socket.Connect(text), () => socket.LastEndpoint, binds ? socket.Unbind
            : socket.Disconnect);
    }

    private static string Ours(ZlinkContext context, NativeSocketType type, string text, bool binds)
    {
        if (type is NativeSocketType.Stream)
        {
            using StreamSocket stream = context.CreateStream();
            return Account(() => stream.Bind(text), () => stream.LastEndpoint, text => stream.Unbind(text));
        }

        using DealerSocket dealer = context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        return Account(binds ? () => dealer.Bind(text) : () => dealer.Connect(text), () => dealer.LastEndpoint, binds
            ? text => dealer.Unbind(text) : text => dealer.Disconnect(text));
    }

    private static string Account(Action join, Func<string> lastEndpoint, Action<string> leave)
    {
        string joined = Outcome(join);
        string endpoint = lastEndpoint();
        return endpoint.Length > 0 ? $"{joined} {Port().Replace(endpoint, ":PORT")}, left: {Outcome(() => leave(endpoint))}" : joined;
    }

    private static string Outcome(Action act)
    {
        try
        {
            act();
            return "0";
        }
        catch (ZlinkException e)
        {
            return $"{e.Error.ToNativeNumber()}";
        }
        catch (NativeException e)
        {
            return $"{e.Error}";
        }
    }

    [GeneratedRegex(":[1-9][0-9]{3,4}", RegexOptions.NonBacktracking)]
    private static partial Regex Port();
}
