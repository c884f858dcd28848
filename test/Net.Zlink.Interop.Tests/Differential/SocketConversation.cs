using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>An application with some sockets, made up from a number: their types and options, and what it does with them.</summary>
internal sealed class SocketConversation
{
    private const int Endpoints = 2;

    // Who binds, and who connects.
    private static readonly (NativeSocketType[] Binders, NativeSocketType[] Connecters)[] s_families =
    [
        ([NativeSocketType.Pair], [NativeSocketType.Pair]),
        ([NativeSocketType.Pub, NativeSocketType.XPub], [NativeSocketType.Sub, NativeSocketType.XSub]),
        ([NativeSocketType.Sub, NativeSocketType.XSub], [NativeSocketType.Pub, NativeSocketType.XPub]),
        ([NativeSocketType.Dealer, NativeSocketType.Router], [NativeSocketType.Dealer, NativeSocketType.Router]),
    ];

    private static readonly string[] s_topics = ["", "a", "ab", "b"];

    private readonly Random _random;
    private readonly int[] _boundBy = [-1, -1];
    private readonly bool[] _wasBound = new bool[Endpoints];
    private readonly bool[] _isClosed;
    private readonly HashSet<(int Socket, int Endpoint)> _connected = []; // Natively who connects twice has two places, of which a ROUTER serves one: with handover the later one, into which its peer does not write.
    private readonly List<SocketStep> _steps = [];

    // Sockets have low high-water marks, and nobody reads before the end. Over tcp it depends on the moment how much is on its way; natively room is told of when half of the queue is read. Not for publishers, which are always read at once: natively an XPUB takes in what its peers send without end.
    private readonly bool _hasMarks;
    private readonly bool _isPair;
    private int _counter;

    private SocketConversation(int seed, bool isInOneContext)
    {
        _random = new Random(seed);
        (NativeSocketType[] binders, NativeSocketType[] connecters) = s_families[seed % s_families.Length];
        _isPair = binders is [NativeSocketType.Pair];
        Transport = _random.Next(2) == 0 && isInOneContext ? TestTransport.Inproc : TestTransports.All[seed / s_families.Length % TestTransports.All.Count];
        IsReadAtOnce = _random.Next(4) != 0;
        Types = new NativeSocketType[_isPair ? 2 : 2 + _random.Next(3)]; // For a third one a PAIR has no place.
        for (int i = 0; i < Types.Length; i++)
        {
            NativeSocketType[] family = i == 0 ? binders : connecters;
            Types[i] = family[_random.Next(family.Length)];
        }

        _hasMarks = Transport is TestTransport.Inproc && !IsReadAtOnce && _random.Next(2) == 0;
        Options = [.. Types.Select(type => MakeOptions(type).ToArray())];
        _isClosed = new bool[Types.Length];
        Bind(0, 0);
        for (int i = 1; i < Types.Length; i++)
        {
            _connected.Add((i, 0));
            _steps.Add(new SocketStep(i, SocketAction.Connect));
        }

        int steps = 8 + _random.Next(20);
        for (int i = 0; i < steps; i++)
        {
            MakeStep();
        }

        for (int i = 0; i < Types.Length; i++)
        {
            Receive(i);
        }
    }

    public TestTransport Transport { get; }

    /// <summary>Each socket receives whatever there is after each step. Else it does so now and then, and none leaves: natively one that has left keeps its place until all that it sent is read.</summary>
    public bool IsReadAtOnce { get; }

    public bool HasImmediate => Options.Any(static options => options.Contains((NativeOption.Immediate, 1)));

    public NativeSocketType[] Types { get; }

    public (int Number, int Value)[][] Options { get; }

    public IReadOnlyList<SocketStep> Steps => _steps;

    /// <param name="seed">Which.</param>
    /// <param name="isInOneContext">So they may meet over inproc.</param>
    public static SocketConversation Make(int seed, bool isInOneContext) => new(seed, isInOneContext);

    public static bool Receives(NativeSocketType type) => type is not NativeSocketType.Pub;

    public override string ToString()
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"{Transport}: {string.Join(", ", Types.Select((type, i) => $"S{i} {type} [{string.Join(' ', Options[i].Select(option => $"{option.Number}={option.Value}"))}]"))}");
        foreach (SocketStep step in _steps)
        {
            text.AppendLine(step.ToString());
        }

        return text.ToString();
    }

    private IEnumerable<(int Number, int Value)> MakeOptions(NativeSocketType type)
    {
        if (_hasMarks)
        {
            yield return (NativeOption.SendHighWaterMark, 1 + _random.Next(3));
            yield return (NativeOption.ReceiveHighWaterMark, 1 + _random.Next(3));
        }

        int[] switches = type switch
        {
            NativeSocketType.Router => [NativeOption.RouterMandatory, NativeOption.RouterHandover, NativeOption.ProbeRouter],
            NativeSocketType.Dealer => [NativeOption.ProbeRouter],
            NativeSocketType.XPub => [NativeOption.XPubVerbose, NativeOption.XPubVerboser, NativeOption.XPubNoDrop, NativeOption.XPubManual, NativeOption.XPubManualLastValue, NativeOption.InvertMatching, NativeOption.OnlyFirstSubscribe],
            NativeSocketType.Pub => [NativeOption.XPubNoDrop, NativeOption.InvertMatching],
            NativeSocketType.Sub => [NativeOption.InvertMatching],
            NativeSocketType.XSub => [NativeOption.OnlyFirstSubscribe],
            _ => [],
        };
        foreach (int number in switches.Append(NativeOption.Immediate))
        {
            // With inverted matching a SUB is sent what it does not want yet; natively it receives that if it wants it by the time it reads, with ours not (docs/protocol.md, 15.5).
            if (_random.Next(5) == 0 && (IsReadAtOnce || number != NativeOption.InvertMatching))
            {
                yield return (number, 1);
            }
        }
    }

    private void MakeStep()
    {
        int socket = _random.Next(Types.Length);
        if (_isClosed[socket])
        {
            return;
        }

        int endpoint = _random.Next(_isPair ? 1 : Endpoints);
        switch (_random.Next(24))
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
                _steps.Add(new SocketStep(_boundBy[endpoint], SocketAction.Unbind, endpoint));
                _boundBy[endpoint] = -1;
                break;
            case 21 when socket > 0 && (Transport is TestTransport.Inproc || _wasBound[endpoint]) && !Options[0].Contains((NativeOption.RouterHandover, 1)) && _connected.Add((socket, endpoint)):
                _steps.Add(new SocketStep(socket, SocketAction.Connect, endpoint));
                break;
            case 22 when IsReadAtOnce && (Transport is TestTransport.Inproc || _wasBound[endpoint]):
                _connected.Remove((socket, endpoint));
                _steps.Add(new SocketStep(socket, SocketAction.Disconnect, endpoint));
                break;
            case 23 when IsReadAtOnce && _random.Next(3) == 0:
                _steps.Add(new SocketStep(socket, SocketAction.Close));
                _isClosed[socket] = true;
                for (int i = 0; i < Endpoints; i++)
                {
                    _boundBy[i] = _boundBy[i] == socket ? -1 : _boundBy[i];
                }

                break;
            default:
                break;
        }
    }

    private void Bind(int socket, int endpoint)
    {
        _boundBy[endpoint] = socket;
        _wasBound[endpoint] = true;
        _steps.Add(new SocketStep(socket, SocketAction.Bind, endpoint));
    }

    private void Receive(int socket)
    {
        if (Receives(Types[socket]) && !_isClosed[socket])
        {
            _steps.Add(new SocketStep(socket, SocketAction.Receive));
        }
    }

    private void Send(int socket)
    {
        if (Types[socket] is NativeSocketType.Sub)
        {
            ChangeTopic(socket);
            return;
        }

        string topic = Types[socket] is NativeSocketType.Pub or NativeSocketType.XPub ? s_topics[_random.Next(s_topics.Length)] : "";
        List<byte[]> parts = [.. Enumerable.Range(0, _random.Next(4) == 0 ? 1 + _random.Next(3) : 1).Select(i => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{topic}-{socket}-{_counter}-{i}")))];
        _counter++;
        if (Types[socket] is NativeSocketType.Router)
        {
            parts.Insert(0, Encoding.ASCII.GetBytes(_random.Next(8) == 0 ? "nobody" : "S" + _random.Next(Types.Length)));
        }

        _steps.Add(new SocketStep(socket, SocketAction.Send, Parts: [.. parts]));
    }

    private void ChangeTopic(int socket)
    {
        if (Types[socket] is NativeSocketType.Sub or NativeSocketType.XSub || Options[socket].Contains((NativeOption.XPubManual, 1)))
        {
            byte[] topic = Encoding.ASCII.GetBytes(s_topics[_random.Next(s_topics.Length)]);
            _steps.Add(new SocketStep(socket, _random.Next(3) == 0 ? SocketAction.Unsubscribe : SocketAction.Subscribe, Parts: [topic]));
        }
    }
}
