using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Made up from a number: two to eight sockets, any of which binds endpoints of several transports and connects to those of
/// others, and whose options change meanwhile.</summary>
internal sealed class SocketMesh : SocketPlan
{
    // Longer than any way to a peer, and short where there is none.
    private const int LingerMilliseconds = 1_000;

    private const int MostSockets = 8;
    private const int MostEndpoints = 6;

    // Two sides that talk to each other; dealers and routers are both of both.
    private static readonly (NativeSocketType[] One, NativeSocketType[] Other)[] s_families =
    [
        ([NativeSocketType.Dealer, NativeSocketType.Router], [NativeSocketType.Dealer, NativeSocketType.Router]),
        ([NativeSocketType.Pub, NativeSocketType.XPub], [NativeSocketType.Sub, NativeSocketType.XSub]),
        ([NativeSocketType.Pair], [NativeSocketType.Pair]),
    ];

    private static readonly TestTransport[] s_transports =
        [TestTransport.Inproc, TestTransport.Inproc, TestTransport.Tcp, TestTransport.Tcp, TestTransport.Ipc, TestTransport.Ws];

    // Around the lengths at which a header, a copy or a write becomes another: 255 and 64 KiB.
    private static readonly int[] s_lengths = [0, 1, 254, 255, 256, 257, 65_535, 65_536, 65_537];

    // What a conversation is about, beside messages.
    private readonly MeshSubject _subject;

    // What a socket says just before it closes, or disconnects, is delivered: it is within the process, or it lingers.
    private readonly bool _hasLastWords;
    private readonly bool[] _isOther;
    private readonly bool[] _isClosed;
    private readonly bool[] _isImmediate;
    private readonly int[] _owners;
    private readonly bool[] _isBound;
    private readonly bool[] _wasBound;
    private readonly HashSet<(int Socket, int Endpoint)> _connected = [];
    private readonly HashSet<(int, int)> _linked = []; // Two sockets have one way to each other: of two a ROUTER serves one.
    private readonly List<string> _aliases = [];
    private int _counter;

    private SocketMesh(int seed, bool isInOneContext)
        : base(seed)
    {
        // Several of one name, and who is turned away, are told otherwise by ours (docs/protocol.md, 15.3).
        var subject = (MeshSubject)Math.Max(0, Random.Next((int)MeshSubject.Count + 8) - 8);
        _subject = isInOneContext || subject is MeshSubject.NewestOnly ? subject : MeshSubject.Coming;
        (NativeSocketType[] one, NativeSocketType[] other) = _subject switch
        {
            MeshSubject.Coming => s_families[Random.Next(5) switch { < 2 => 0, < 4 => 1, _ => 2 }],
            MeshSubject.Marks when Random.Next(2) == 0 => ([NativeSocketType.Dealer], [NativeSocketType.Dealer]),
            MeshSubject.NewestOnly => ([NativeSocketType.Dealer], [NativeSocketType.Dealer]),
            _ => s_families[0],
        };
        bool isPair = one is [NativeSocketType.Pair];
        IsReadAtOnce = _subject is not (MeshSubject.Marks or MeshSubject.NewestOnly);
        int sockets = isPair ? 2 : 2 + Random.Next(MostSockets - 1);
        _isClosed = new bool[sockets];
        _isOther = [.. Enumerable.Range(0, sockets).Select(i => i == 1 || (i > 1 && Random.Next(2) == 0))];
        Types = [.. _isOther.Select(isOther => isOther ? other[Random.Next(other.Length)] : one[Random.Next(one.Length)])];
        TestTransport[] transports = _subject switch
        {
            MeshSubject.Marks => [TestTransport.Inproc], // Over others it depends on the moment how much is on its way.
            // Over inproc who is turned away stays away (docs/protocol.md, 15.3).
            MeshSubject.SameNames => [TestTransport.Tcp, TestTransport.Ipc, TestTransport.Ws],
            _ => isInOneContext ? s_transports : [.. s_transports.Where(static transport => transport is not TestTransport.Inproc)],
        };
        Endpoints = [.. Enumerable.Range(0, 2 + Random.Next(MostEndpoints - 1)).Select(_ => transports[Random.Next(transports.Length)])];
        RoutingIds = [.. Enumerable.Range(0, sockets).Select(i => RoutingIdOf(_subject is MeshSubject.SameNames ? Random.Next(i + 1) : i))];
        _owners = [.. Endpoints.Select(_ => Random.Next(sockets))];
        _isBound = new bool[Endpoints.Length];
        _wasBound = new bool[Endpoints.Length];
        bool isInProcess = Array.TrueForAll(Endpoints, static transport => transport is TestTransport.Inproc);
        bool lingers = _subject is MeshSubject.Coming && Random.Next(4) == 0;
        _hasLastWords = IsReadAtOnce && (isInProcess || lingers);
        Options = [.. Types.Select(type => MakeOptions(type, lingers).ToArray())];
        _isImmediate = [.. Options.Select(static options => options.Contains((NativeOption.Immediate, 1)))];
        for (int i = 0; i < Endpoints.Length; i++)
        {
            Bind(i);
        }

        for (int i = 0; i < sockets; i++)
        {
            Connect(i, Random.Next(Endpoints.Length));
        }

        int steps = 10 + Random.Next(20);
        for (int i = 0; i < steps; i++)
        {
            int socket = Random.Next(sockets);
            if (!_isClosed[socket])
            {
                MakeStep(socket, Random.Next(Endpoints.Length));
            }
        }

        for (int i = 0; i < sockets; i++)
        {
            if (!_isClosed[i] && Types[i] is not NativeSocketType.Pub)
            {
                Add(new SocketStep(i, SocketAction.Receive));
            }
        }
    }

    // Who is turned away is told with ours, natively not (docs/protocol.md, 15.3). And natively a ROUTER that is asked whether it is
    // readable takes a message, and so makes room.
    public override bool IsWatched => _subject is not MeshSubject.SameNames
        && (_subject is not MeshSubject.Marks || !Types.Contains(NativeSocketType.Router));

    private bool IsOfPublishers => Types.Contains(NativeSocketType.Pub) || Types.Contains(NativeSocketType.XPub);

    /// <param name="seed">Which.</param>
    /// <param name="isInOneContext">So they may meet over inproc.</param>
    public static SocketMesh Make(int seed, bool isInOneContext) => new(seed, isInOneContext);

    private int[] SwitchesOf(NativeSocketType type) => [.. AllSwitchesOf(type).Where(number => _subject switch
    {
        // Who is turned away natively gets a probe all the same, and sends on into nothing; with ours he is told nothing, and with
        // IMMEDIATE cannot send.
        MeshSubject.SameNames => number is NativeOption.RouterMandatory,

        // With IMMEDIATE natively the last words are lost (docs/protocol.md, 15.5).
        _ => !_hasLastWords || number is not NativeOption.Immediate,
    })];

    private static int[] AllSwitchesOf(NativeSocketType type) => type switch
    {
        NativeSocketType.Router => [NativeOption.RouterMandatory, NativeOption.ProbeRouter, NativeOption.Immediate],
        NativeSocketType.Dealer => [NativeOption.ProbeRouter, NativeOption.Immediate],
        NativeSocketType.XPub => [NativeOption.XPubVerbose, NativeOption.XPubVerboser, NativeOption.XPubNoDrop, NativeOption.XPubManual,
            NativeOption.InvertMatching, NativeOption.OnlyFirstSubscribe, NativeOption.Immediate],
        NativeSocketType.Pub => [NativeOption.XPubNoDrop, NativeOption.InvertMatching, NativeOption.Immediate],
        NativeSocketType.Sub => [NativeOption.InvertMatching, NativeOption.Immediate],
        _ => [NativeOption.Immediate],
    };

    private IEnumerable<(int Number, int Value)> MakeOptions(NativeSocketType type, bool lingers)
    {
        if (lingers)
        {
            yield return (NativeOption.Linger, LingerMilliseconds);
        }

        if (_subject is MeshSubject.Marks)
        {
            yield return (NativeOption.SendHighWaterMark, 1 + Random.Next(3));
            yield return (NativeOption.ReceiveHighWaterMark, 1 + Random.Next(3));
        }
        else if (_subject is MeshSubject.NewestOnly)
        {
            yield return (NativeOption.Conflate, 1); // Of all: over inproc natively that of the connecter counts.
        }

        foreach (int number in SwitchesOf(type))
        {
            if (Random.Next(6) == 0)
            {
                yield return (number, 1);
            }
        }
    }

    private void MakeStep(int socket, int endpoint)
    {
        switch (Random.Next(25))
        {
            case < 9:
                Send(socket);
                break;
            case < 13:
                ChangeTopic(socket);
                break;
            case < 16:
                Connect(socket, endpoint);
                break;
            case 16 when IsReadAtOnce:
                Disconnect(socket, endpoint);
                break;
            case 17 when _isBound[endpoint] && IsReadAtOnce:
                Add(new SocketStep(_owners[endpoint], SocketAction.Unbind, endpoint));
                _isBound[endpoint] = false;
                break;
            case 18 when !_isBound[endpoint] || Endpoints[endpoint] is TestTransport.Inproc:
                Bind(endpoint);
                break;
            case < 21:
                Set(socket);
                break;
            case < 23:
                int[] numbers = [NativeOption.RoutingId, NativeOption.LastEndpoint, NativeOption.LastEndpoint, NativeOption.Immediate,
                    NativeOption.SendHighWaterMark, NativeOption.TopicsCount];
                // Natively a publisher's count keeps what peers that have left had.
                int number = numbers[Random.Next(Types[socket] is NativeSocketType.Sub or NativeSocketType.XSub ? numbers.Length
                    : numbers.Length - 1)];
                Add(new SocketStep(socket, SocketAction.Get, Number: number));
                break;
            case 23 when _subject is not MeshSubject.Marks:
                if (Types[socket] is not NativeSocketType.Pub)
                {
                    Add(new SocketStep(socket, SocketAction.Receive));
                }

                break;
            case 24 when IsReadAtOnce && Random.Next(3) == 0:
                Close(socket);
                break;
            default:
                break;
        }
    }

    private void Bind(int endpoint)
    {
        int owner = _owners[endpoint];
        if (_isClosed[owner])
        {
            return;
        }

        Add(new SocketStep(owner, _isBound[endpoint] || (_wasBound[endpoint] && Random.Next(2) == 0) ? SocketAction.BindAgain
            : SocketAction.Bind, endpoint));
        _isBound[endpoint] = _wasBound[endpoint] = true;
    }

    private void Connect(int socket, int endpoint)
    {
        int owner = _owners[endpoint];
        (int, int) link = (Math.Min(socket, owner), Math.Max(socket, owner));
        if (owner == socket || (IsOfPublishers && _isOther[socket] == _isOther[owner])
            || (!_wasBound[endpoint] && Endpoints[endpoint] is not TestTransport.Inproc))
        {
            return;
        }

        // Twice the same endpoint is natively once, but over inproc.
        if (!_linked.Add(link) && (Endpoints[endpoint] is TestTransport.Inproc || !_connected.Contains((socket, endpoint))))
        {
            return;
        }

        // With IMMEDIATE natively the name goes to a later connect (docs/protocol.md, 15.5).
        if (_connected.Add((socket, endpoint)) && Types[socket] is NativeSocketType.Router && !_isImmediate[socket] && Random.Next(2) == 0)
        {
            Add(new SocketStep(socket, SocketAction.ConnectAs, endpoint, [Encoding.ASCII.GetBytes(NewName())]));
        }
        else
        {
            Add(new SocketStep(socket, SocketAction.Connect, endpoint));
        }
    }

    private string NewName()
    {
        _aliases.Add(string.Create(CultureInfo.InvariantCulture, $"A{_aliases.Count}"));
        return _aliases[^1];
    }

    private void Disconnect(int socket, int endpoint)
    {
        if (!_wasBound[endpoint])
        {
            return;
        }

        if (_connected.Remove((socket, endpoint)))
        {
            for (int i = _hasLastWords ? Random.Next(3) : 0; i > 0; i--)
            {
                Send(socket, isLast: true);
            }

            _linked.Remove((Math.Min(socket, _owners[endpoint]), Math.Max(socket, _owners[endpoint])));
        }

        Add(new SocketStep(socket, SocketAction.Disconnect, endpoint));
    }

    private void Close(int socket)
    {
        for (int i = _hasLastWords ? Random.Next(4) : 0; i > 0; i--)
        {
            Send(socket, isLast: true);
        }

        Add(new SocketStep(socket, SocketAction.Close));
        _isClosed[socket] = true;
        for (int i = 0; i < Endpoints.Length; i++)
        {
            _isBound[i] &= _owners[i] != socket;
        }
    }

    private void Set(int socket)
    {
        if (Types[socket] is NativeSocketType.Pub or NativeSocketType.XPub && Random.Next(4) == 0)
        {
            Add(new SocketStep(socket, SocketAction.Set,
                Parts: [Encoding.ASCII.GetBytes(Random.Next(3) == 0 ? "" : NextTopic() + "welcome")],
                Number: NativeOption.XPubWelcomeMessage));
            return;
        }

        if (!IsOfPublishers && _subject is not MeshSubject.SameNames && Random.Next(4) == 0)
        {
            Add(new SocketStep(socket, SocketAction.Set, Parts: [Encoding.ASCII.GetBytes(NewName())], Number: NativeOption.RoutingId));
            return;
        }

        int[] switches = SwitchesOf(Types[socket]);
        if (switches.Length == 0)
        {
            return;
        }

        int number = switches[Random.Next(switches.Length)];
        // IMMEDIATE only goes on: natively a connect that was made with it ends the process where it is off by the time the connection is
        // lost, and one that was made without ends a subscriber's pipe where it is on.
        int value = number == NativeOption.Immediate ? 1 : Random.Next(2);
        if (number == NativeOption.Immediate && (Types[socket] is NativeSocketType.Sub or NativeSocketType.XSub))
        {
            return;
        }

        Add(new SocketStep(socket, SocketAction.Set, Parts: [BitConverter.GetBytes(value)], Number: number));
        _isImmediate[socket] |= number == NativeOption.Immediate;
    }

    private void Send(int socket, bool isLast = false)
    {
        if (Types[socket] is NativeSocketType.Sub)
        {
            if (!isLast)
            {
                ChangeTopic(socket);
            }

            return;
        }

        string topic = TopicOf(socket);
        List<byte[]> parts = [.. Enumerable.Range(
            0, Random.Next(4) == 0 && _subject is not MeshSubject.NewestOnly ? 1 + Random.Next(3) : 1)
            .Select(i => Part(string.Create(CultureInfo.InvariantCulture, $"{topic}-{socket}-{_counter}-{i}"), isFirst: i == 0))];
        _counter++;
        if (Types[socket] is NativeSocketType.Router)
        {
            string id = Random.Next(8) == 0 ? "nobody" : _aliases.Count > 0 && Random.Next(4) == 0 ? _aliases[Random.Next(_aliases.Count)]
                : RoutingIdOf(Random.Next(Types.Length));
            parts.Insert(0, Encoding.ASCII.GetBytes(id));
        }

        Add(new SocketStep(socket, isLast ? SocketAction.SendAndGoOn : SocketAction.Send, Parts: [.. parts]));
    }

    /// <summary>Now and then of a length at which something may change. The first part keeps what it says.</summary>
    private byte[] Part(string text, bool isFirst)
    {
        int length = Random.Next(4) == 0 ? s_lengths[Random.Next(s_lengths.Length)] : text.Length;
        return Encoding.ASCII.GetBytes(length < text.Length ? isFirst ? text : text[..length] : text.PadRight(length, 'x'));
    }

    private void ChangeTopic(int socket)
    {
        // A name that nobody has bound yet is not told of each change (docs/protocol.md, 15.5).
        bool isWaiting = _connected.Any(connection => connection.Socket == socket && Endpoints[connection.Endpoint] is TestTransport.Inproc
            && !_isBound[connection.Endpoint]);
        if (!isWaiting && (Types[socket] is NativeSocketType.Sub or NativeSocketType.XSub
            || (Types[socket] is NativeSocketType.XPub && Random.Next(2) == 0)))
        {
            AddTopicChange(socket);
        }
    }
}
