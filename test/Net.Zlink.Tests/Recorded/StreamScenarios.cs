using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>STREAM: peers with numbers, payloads behind their length.</summary>
internal static class StreamScenarios
{
    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(StringComparer.Ordinal)
        {
            ["a stream client connects, sends and ends"] = ClientEnds,
            ["a stream server disconnects and aborts its peers"] = ServerEnds,
            ["a stream peer breaks the framing"] = Break,
            ["a stream peer that is silent is ended"] = Idle,
            ["a stream peer that takes nothing fills its queue"] = Full,
            ["a stream socket reconnects"] = Reconnect,
            ["a stream socket with a reader that is behind does not read"] = Behind,
        };

    private static void ClientEnds(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions());
        MemoryPeer first = log.Play("first", log.Endpoint("s"));
        log.Write(first, "\0\0\0\u0005he"u8);
        log.Write(first, "llo\0\0\0\0\0\0\0\u0001"u8);
        MemoryPeer second = log.Play("second", log.Endpoint("s"));
        log.Write(second, "\0\0\0\u0002hi"u8);
        log.Write(first, "!\0\0\0\u0009cut"u8);
        log.ReceiveAll(server);
        log.Do("server answers 1", () => server.To(1).TrySend("first"u8));
        log.Do("server answers 2", () => server.To(2).TrySend("second"u8));
        log.Do("first ends", first.EndSending);
        log.Do("second is lost", second.Reset);
        log.ReceiveAll(server);
        log.Do("server sends to 1", () => server.To(1).TrySend("nobody"u8));
    }

    private static void ServerEnds(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions());
        foreach (string name in (string[])["first", "second", "third"])
        {
            log.Write(log.Play(name, log.Endpoint("s")), "\0\0\0\u0001x"u8);
        }

        log.Do("server sends to 1", () => server.To(1).TrySend("last"u8));
        log.Do("server disconnects 1", () => server.Disconnect(1));
        log.Do("server aborts 2", () => server.Disconnect(2, abort: true));
        log.ReceiveAll(server);
        log.Do("server unbinds", () => server.Unbind(log.Endpoint("s")));
        log.ReceiveAll(server);
        log.Do("server ends", server.Dispose);
    }

    private static void Break(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions { MaxMessageSize = 10 });
        log.Write(log.Play("within", log.Endpoint("s")), [0, 0, 0, 10, .. new byte[10]]);
        log.Write(log.Play("beyond", log.Endpoint("s")), [0, 0, 0, 1, 1, 0, 0, 0, 11]);
        log.Write(log.Play("negative", log.Endpoint("s")), [0xFF, 0xFF, 0xFF, 0xFF]);
        log.ReceiveAll(server);
    }

    private static void Idle(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions { IdleTimeout = 3 * Second });
        MemoryPeer talking = log.Play("talking", log.Endpoint("s"));
        log.Play("silent", log.Endpoint("s"));
        log.Pass(2);
        log.Write(talking, "\0\0\0\u0001x"u8);
        log.Pass(2);
        log.ReceiveAll(server);
        log.Pass(2);
        log.ReceiveAll(server);
    }

    private static void Full(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions { SendHighWaterMark = 2, WriteTimeout = 5 * Second });
        MemoryPeer peer = log.Play("peer", log.Endpoint("s"));
        log.ReceiveAll(server);
        log.Do("peer takes nothing", () => peer.Room = 0);
        for (int i = 0; i < 4; i++)
        {
            log.Do("server sends", () => server.To(1).TrySend("x"u8));
        }

        log.Do("peer takes everything", () => peer.Room = long.MaxValue);
        log.Do("server sends", () => server.To(1).TrySend("y"u8));
        log.Do("peer takes nothing", () => peer.Room = 0);
        log.Do("server sends", () => server.To(1).TrySend("z"u8));
        log.Pass(10);
        log.ReceiveAll(server);
    }

    private static void Reconnect(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions());
        StreamSocket client = log.Add("client", log.Context.CreateStream());
        Task connecting = client.ConnectAsync(
            log.Endpoint("s"),
            new StreamConnectOptions { Reconnect = true, ReconnectInterval = FirstPause, ReconnectIntervalMax = Second },
            Guard.Token).AsTask();
        MemoryLink link = log.Dialled(log.Endpoint("s"));
        log.Await(connecting);
        log.Do("client sends", () => client.To(1).TrySend("hello"u8));
        log.ReceiveAll(server);
        log.Do("the connection is reset", link.Reset);
        log.Pass(0.1);
        log.Dialled(log.Endpoint("s"));
        log.Do("server sends", () => server.To(2).TrySend("again"u8));
        log.ReceiveAll(server);
        log.ReceiveAll(client);
    }

    private static void Behind(ScenarioLog log)
    {
        StreamSocket server = Bound(log, new StreamOptions { ReceiveHighWaterMark = 2 });
        MemoryPeer peer = log.Play("peer", log.Endpoint("s"));
        for (byte i = 1; i <= 5; i++)
        {
            log.Write(peer, [0, 0, 0, 1, (byte)('0' + i)]);
        }

        log.Do("peer ends", peer.EndSending);
        log.ReceiveAll(server);
    }

    private static StreamSocket Bound(ScenarioLog log, StreamOptions options)
    {
        StreamSocket server = log.Add("server", log.Context.CreateStream(options));
        log.Do("server binds", () => server.Bind(log.Endpoint("s")));
        return server;
    }
}
