using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Made up from a number: a socket that binds, and one to three that connect to it over one transport.</summary>
internal sealed class SocketConversation : SocketPlan
{
    private const int MostEndpoints = 2;

    // Who binds, and who connects.
    private static readonly (NativeSocketType[] Binders, NativeSocketType[] Connecters)[] s_families =
    [
        ([NativeSocketType.Pair], [NativeSocketType.Pair]),
        ([NativeSocketType.Pub, NativeSocketType.XPub], [NativeSocketType.Sub, NativeSocketType.XSub]),
        ([NativeSocketType.Sub, NativeSocketType.XSub], [NativeSocketType.Pub, NativeSocketType.XPub]),
        ([NativeSocketType.Dealer, NativeSocketType.Router], [NativeSocketType.Dealer, NativeSocketType.Router]),
    ];

    private readonly int[] _boundBy = [-1, -1];
    private readonly bool[] _wasBound = new bool[MostEndpoints];
    private readonly bool[] _isClosed;
    private readonly HashSet<(int Socket, int Endpoint)> _connected = [];

    // Sockets have low high-water marks, and nobody reads before the end. Over tcp it depends on the moment how much is on its way;
    // natively room is told of when half of the queue is read. Not for publishers, which are always read at once: natively an XPUB takes in
    // what its peers send without end, so it has no marks where an XSUB sends to it.
    private readonly bool _hasMarks;
    private readonly bool _isPair;
    private int _counter;

    private SocketConversation(int seed, bool isInOneContext)
        : base(seed)
    {
        (NativeSocketType[] binders, NativeSocketType[] connecters) = s_families[seed % s_families.Length];
        _isPair = binders is [NativeSocketType.Pair];
        TestTransport transport = Random.Next(2) == 0 && isInOneContext ? TestTransport.Inproc
            : TestTransports.All[seed / s_families.Length % TestTransports.All.Count];
        Endpoints = [transport, transport];
        IsReadAtOnce = Random.Next(4) != 0;
        Types = new NativeSocketType[_isPair ? 2 : 2 + Random.Next(3)]; // For a third one a PAIR has no place.
        for (int i = 0; i < Types.Length; i++)
        {
            NativeSocketType[] family = i == 0 ? binders : connecters;
            Types[i] = family[Random.Next(family.Length)];
        }

        RoutingIds = [.. Enumerable.Range(0, Types.Length).Select(RoutingIdOf)];
        _hasMarks = IsInproc && !IsReadAtOnce && Random.Next(2) == 0
            && !(Types.Contains(NativeSocketType.XPub) && Types.Contains(NativeSocketType.XSub));
        Options = [.. Types.Select(type => MakeOptions(type).ToArray())];
        _isClosed = new bool[Types.Length];
        Bind(0, 0);
        for (int i = 1; i < Types.Length; i++)
        {
            _connected.Add((i, 0));
            Add(new SocketStep(i, SocketAction.Connect));
        }

        int steps = 8 + Random.Next(20);
        for (int i = 0; i < steps; i++)
        {
            MakeStep();
        }

        for (int i = 0; i < Types.Length; i++)
        {
            Receive(i);
        }
    }

    private bool IsInproc => Endpoints[0] is TestTransport.Inproc;

    /// <param name="seed">Which.</param>
    /// <param name="isInOneContext">So they may meet over inproc.</param>
    public static SocketConversation Make(int seed, bool isInOneContext) => new(seed, isInOneContext);

    private IEnumerable<(int Number, int Value)> MakeOptions(NativeSocketType type)
    {
        if (_hasMarks)
        {
            yield return (NativeOption.SendHighWaterMark, 1 + Random.Next(3));
            yield return (NativeOption.ReceiveHighWaterMark, 1 + Random.Next(3));
        }

        int[] switches = type switch
        {
            NativeSocketType.Router => [NativeOption.RouterMandatory, NativeOption.RouterHandover, NativeOption.ProbeRouter],
            NativeSocketType.Dealer => [NativeOption.ProbeRouter],
            NativeSocketType.XPub => [NativeOption.XPubVerbose, NativeOption.XPubVerboser, NativeOption.XPubNoDrop,
                NativeOption.XPubManual, NativeOption.XPubManualLastValue, NativeOption.InvertMatching, NativeOption.OnlyFirstSubscribe],
            NativeSocketType.Pub => [NativeOption.XPubNoDrop, NativeOption.InvertMatching],
            NativeSocketType.Sub => [NativeOption.InvertMatching],
            _ => [],
        };
        bool isLastValueOnly = false;
        foreach (int number in switches.Append(NativeOption.Immediate))
        {
            // With inverted matching a SUB is sent what it does not want yet; natively it receives that if it wants it by the time it
            // reads, with ours not (docs/protocol.md, 15.5).
            // And with MANUAL_LAST_VALUE besides, to whom a message goes (there, too).
            if (Random.Next(5) == 0 && (number != NativeOption.InvertMatching || (IsReadAtOnce && !isLastValueOnly)))
            {
                isLastValueOnly |= number == NativeOption.XPubManualLastValue;
                yield return (number, 1);
            }
        }
    }

    private void MakeStep()
    {
        int socket = Random.Next(Types.Length);
        if (_isClosed[socket])
        {
            return;
        }

        int endpoint = Random.Next(_isPair ? 1 : MostEndpoints);
        switch (Random.Next(24))
        {
            case < 10:
                Send(socket);
                break;
            case < 16 when !_hasMarks:
                Receive(socket);
                break;
            case < 19:
                ChangeTopic(socket);
                break;
            case 19 when _boundBy[endpoint] < 0 && !_isClosed[0]:
                Bind(0, endpoint);
                break;
            case 20 when IsReadAtOnce && _boundBy[endpoint] >= 0:
                Add(new SocketStep(_boundBy[endpoint], SocketAction.Unbind, endpoint));
                _boundBy[endpoint] = -1;
                break;
            case 21 when socket > 0 && (IsInproc || _wasBound[endpoint]) && MayConnectTwice(socket) && _connected.Add((socket, endpoint)):
                Add(new SocketStep(socket, SocketAction.Connect, endpoint));
                break;
            case 22 when IsReadAtOnce && (IsInproc || _wasBound[endpoint]):
                _connected.Remove((socket, endpoint));
                Add(new SocketStep(socket, SocketAction.Disconnect, endpoint));
                break;
            case 23 when IsReadAtOnce && Random.Next(3) == 0:
                Add(new SocketStep(socket, SocketAction.Close));
                _isClosed[socket] = true;
                for (int i = 0; i < MostEndpoints; i++)
                {
                    _boundBy[i] = _boundBy[i] == socket ? -1 : _boundBy[i];
                }

                break;
            default:
                break;
        }
    }

    /// <summary>Natively who connects twice has two places, of which a ROUTER serves one, and leaves the other one open and unread. Ours
    /// closes it (docs/protocol.md, 15.3), which shows where the other side sends in turn, and over inproc on either.</summary>
    private bool MayConnectTwice(int socket) => Types[socket] is not NativeSocketType.Router
        && (Types[0] is not NativeSocketType.Router || (!IsInproc && !Options[0].Contains((NativeOption.RouterHandover, 1))));

    private void Bind(int socket, int endpoint)
    {
        _boundBy[endpoint] = socket;
        _wasBound[endpoint] = true;
        Add(new SocketStep(socket, SocketAction.Bind, endpoint));
    }

    private void Receive(int socket)
    {
        if (Receives(Types[socket]) && !_isClosed[socket])
        {
            Add(new SocketStep(socket, SocketAction.Receive));
        }
    }

    private void Send(int socket)
    {
        if (Types[socket] is NativeSocketType.Sub)
        {
            ChangeTopic(socket);
            return;
        }

        string topic = TopicOf(socket);
        List<byte[]> parts = [.. Enumerable.Range(0, Random.Next(4) == 0 ? 1 + Random.Next(3) : 1)
            .Select(i => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{topic}-{socket}-{_counter}-{i}")))];
        _counter++;
        if (Types[socket] is NativeSocketType.Router)
        {
            parts.Insert(0, Encoding.ASCII.GetBytes(Random.Next(8) == 0 ? "nobody" : "S" + Random.Next(Types.Length)));
        }

        Add(new SocketStep(socket, SocketAction.Send, Parts: [.. parts]));
    }

    private void ChangeTopic(int socket)
    {
        // A name that nobody has bound yet is not told of each change (docs/protocol.md, 15.5).
        bool isWaiting = IsInproc && _connected.Any(connection => connection.Socket == socket && _boundBy[connection.Endpoint] < 0);
        if (!isWaiting && (Types[socket] is NativeSocketType.Sub or NativeSocketType.XSub
            || Options[socket].Contains((NativeOption.XPubManual, 1))))
        {
            AddTopicChange(socket);
        }
    }
}
