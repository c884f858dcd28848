using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A conversation made up from a number: a socket type, its options, and what raw peers and the application do. Most of it is what peers do, some of it is what none should.</summary>
internal sealed class WireConversation
{
    private const byte More = 0x01;
    private const byte Control = 0x02;

    private static readonly NativeSocketType[] s_types =
        [NativeSocketType.Pair, NativeSocketType.Pub, NativeSocketType.Sub, NativeSocketType.Dealer, NativeSocketType.Router, NativeSocketType.XPub, NativeSocketType.XSub];

    private static readonly string[] s_topics = ["", "a", "ab", "b", "\0", "\x01"];

    private readonly Random _random;
    private readonly List<WireStep> _steps = [];
    private readonly List<(int Number, int Value)> _options = [];
    private readonly PeerState[] _peers;
    private readonly HashSet<byte>[] _held;
    private int _counter;

    private WireConversation(int seed)
    {
        _random = new Random(seed);
        Type = s_types[seed % s_types.Length];
        _peers = new PeerState[Type is NativeSocketType.Pair ? 1 : 1 + _random.Next(3)];
        _held = [.. _peers.Select(static _ => new HashSet<byte>())];
        MakeOptions();
        Connects = _random.Next(3) == 0;
        IsReadAtOnce = Type is NativeSocketType.Sub || _random.Next(4) != 0;
        for (int i = 0; i < _peers.Length; i++)
        {
            Open(i);
        }

        int steps = 4 + _random.Next(14);
        for (int i = 0; i < steps; i++)
        {
            MakeStep();
        }

        _steps.Add(new WireStep.Receive());
    }

    private enum PeerState
    {
        Absent,
        Talking,
        Broken,
    }

    public NativeSocketType Type { get; }

    public int Peers => _peers.Length;

    public IReadOnlyList<(int Number, int Value)> Options => _options;

    /// <summary>The socket connects to its peers; else they connect to it.</summary>
    public bool Connects { get; }

    /// <summary>The application receives whatever there is after each step. Else it does so now and then, and no peer leaves: natively one that has left keeps its place until all that it sent is read. A SUB always does: natively it filters when it is read, ours when a message comes in too (docs/protocol.md, 15.5).</summary>
    public bool IsReadAtOnce { get; }

    public byte[]? WelcomeMessage { get; private set; }

    public IReadOnlyList<WireStep> Steps => _steps;

    public static WireConversation Make(int seed) => new(seed);

    /// <summary>A heartbeat that names its number.</summary>
    public static byte[] Heartbeat(uint number) => Frame(Control, [2, 0, 0, 4, .. BigEndian(number)]);

    /// <summary>The answer to it.</summary>
    public static byte[] Answer(uint number) => Frame(Control, [3, 4, .. BigEndian(number)]);

    public override string ToString()
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"{Type} {(Connects ? "connects" : "binds")}, options {string.Join(' ', _options.Select(option => $"{option.Number}={option.Value}"))}{(WelcomeMessage is null ? "" : ", welcome message")}");
        foreach (WireStep step in _steps)
        {
            text.AppendLine(step.ToString());
        }

        return text.ToString();
    }

    private bool MayBreak => IsReadAtOnce && !TellsTopicsAnew;

    // Natively the next connection hears the topics that were held when the last one was lost, then each change; ours hears those that are held when it comes. So no topic may change in between.
    private bool TellsTopicsAnew => Connects && Subscribes;

    private bool Subscribes => Type is NativeSocketType.Sub or NativeSocketType.XSub;

    private bool Publishes => Type is NativeSocketType.Pub or NativeSocketType.XPub;

    private static byte[] BigEndian(uint value)
    {
        byte[] bytes = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, value);
        return bytes;
    }

    private static byte[] Frame(byte flags, ReadOnlySpan<byte> body) => [0x5A, 1, flags, 0, .. BigEndian((uint)body.Length), .. body];

    private void MakeOptions()
    {
        int[] switches = Type switch
        {
            NativeSocketType.Router => [NativeOption.RouterMandatory, NativeOption.ProbeRouter],
            NativeSocketType.Dealer => [NativeOption.ProbeRouter],
            NativeSocketType.XPub => [NativeOption.XPubVerbose, NativeOption.XPubVerboser, NativeOption.InvertMatching, NativeOption.OnlyFirstSubscribe],
            NativeSocketType.Pub => [NativeOption.InvertMatching],
            NativeSocketType.XSub => [NativeOption.OnlyFirstSubscribe],
            NativeSocketType.Sub => [NativeOption.InvertMatching],
            _ => [],
        };
        foreach (int number in switches.Append(NativeOption.ZmpMetadata))
        {
            if (_random.Next(4) == 0)
            {
                _options.Add((number, 1));
            }
        }

        if (Publishes && _random.Next(4) == 0)
        {
            WelcomeMessage = "hello"u8.ToArray();
        }
    }

    private void MakeStep()
    {
        int peer = _random.Next(_peers.Length);
        switch (_random.Next(20))
        {
            case < 6:
                AppSend();
                break;
            case < 8:
                _steps.Add(new WireStep.Receive());
                break;
            case 8:
                AppCall();
                break;
            case 9 when IsReadAtOnce && _peers[peer] != PeerState.Absent:
                _steps.Add(new WireStep.End(peer, _random.Next(2) == 0));
                _peers[peer] = PeerState.Absent;
                if (TellsTopicsAnew)
                {
                    Open(peer);
                }

                break;
            default:
                if (_peers[peer] == PeerState.Talking)
                {
                    Speak(peer);
                }
                else
                {
                    if (_peers[peer] == PeerState.Broken)
                    {
                        _steps.Add(new WireStep.End(peer, Resets: false));
                    }

                    Open(peer);
                }

                break;
        }
    }

    private void AppSend()
    {
        byte[][] parts = Parts(letter: 's');
        if (Type is NativeSocketType.Router)
        {
            parts = [Encoding.ASCII.GetBytes(_random.Next(8) == 0 ? "nobody" : IdOf(_random.Next(_peers.Length))), .. parts];
        }

        if (Subscribes)
        {
            AppCall();
        }
        else
        {
            _steps.Add(new WireStep.Send(parts));
        }
    }

    private void AppCall()
    {
        if (Subscribes)
        {
            byte[] topic = Topic();
            string text = Convert.ToHexStringLower(topic);
            // Natively a topic that begins with 01 is not cancelled: the rest of it is subscribed to.
            _steps.Add(_random.Next(3) == 0 && topic is not [1, ..] ? new WireStep.Call($"unsubscribes {text}", socket => socket.Unsubscribe(topic)) : new WireStep.Call($"subscribes {text}", socket => socket.Subscribe(topic)));
        }
    }

    private static string IdOf(int peer) => "P" + peer;

    private void Open(int peer)
    {
        _steps.Add(new WireStep.Open(peer));
        _held[peer].Clear();
        byte[] hello = Hello(peer);
        byte[] ready = Ready();
        _peers[peer] = PeerState.Talking;
        if (MayBreak && _random.Next(12) == 0)
        {
            Damage(_random.Next(2) == 0 ? hello : ready);
            _peers[peer] = PeerState.Broken;
        }

        Write(peer, [.. hello, .. ready]);
    }

    private byte[] Hello(int peer)
    {
        byte[] types = Type switch
        {
            NativeSocketType.Pair => [0],
            NativeSocketType.Pub or NativeSocketType.XPub => [2, 10],
            NativeSocketType.Sub or NativeSocketType.XSub => [1, 9],
            _ => [5, 6],
        };
        byte type = _random.Next(20) == 0 ? (byte)_random.Next(12) : types[_random.Next(types.Length)];
        byte[] id = Encoding.ASCII.GetBytes(IdOf(peer));
        return Frame(Control, [1, type, (byte)id.Length, .. id]);
    }

    private byte[] Ready()
    {
        if (_random.Next(3) != 0)
        {
            return Frame(Control, [4]);
        }

        return Frame(Control, [4, 1, (byte)'n', .. BigEndian(2), (byte)'v', (byte)'w']);
    }

    private void Damage(byte[] frame)
    {
        byte[] whole = [.. frame];
        int at = _random.Next(frame.Length);
        frame[at] = (byte)(_random.Next(2) == 0 ? frame[at] ^ (1 << _random.Next(8)) : _random.Next(256));
        if (frame.AsSpan().IndexOf(Frame(Control, [])) >= 0)
        {
            whole.CopyTo(frame, 0); // Natively what becomes of a control frame without a body depends on what came before it.
        }
    }

    private void Speak(int peer)
    {
        var bytes = new List<byte>();
        int messages = 1 + _random.Next(3);
        for (int i = 0; i < messages; i++)
        {
            bytes.AddRange(_random.Next(12) switch
            {
                < 5 => Message(Parts((char)('0' + peer))),
                < 8 => Subscription(peer),
                8 => Frame((byte)(_random.Next(2) == 0 ? 4 : 5), Topic()),
                9 when MayBreak => Odd(),
                10 => Frame(Control, [3, 2, 7, 7]),
                _ => Frame(Control, _random.Next(3) == 0 ? [2] : [2, 0, 0, 1, (byte)_random.Next(256)]),
            });
        }

        byte[] all = [.. bytes];
        if (MayBreak && _random.Next(25) == 0)
        {
            Damage(all);
            _peers[peer] = PeerState.Broken;
        }
        else if (MayBreak && _random.Next(25) == 0)
        {
            all = all[..(1 + _random.Next(all.Length - 1))];
            _peers[peer] = PeerState.Broken;
        }

        Write(peer, all);
    }

    private byte[] Subscription(int peer)
    {
        // What a peer never asked for it does not cancel: natively the application is told that nobody wants it any more, though others do.
        byte index = (byte)_random.Next(s_topics.Length);
        byte[] topic = Encoding.ASCII.GetBytes(s_topics[index]);
        bool subscribes = !_held[peer].Contains(index) || _random.Next(2) == 0;
        if (subscribes)
        {
            _held[peer].Add(index);
        }
        else
        {
            _held[peer].Remove(index);
        }

        return _random.Next(2) == 0 ? Frame((byte)(subscribes ? 0x08 : 0x10), topic) : Frame(0, [(byte)(subscribes ? 1 : 0), .. topic]);
    }

    private byte[] Odd() => _random.Next(8) switch
    {
        0 => Frame(Control, [4]),
        1 => Frame(Control, [1, 5, 0]),
        2 => Frame(Control, [(byte)(6 + _random.Next(250))]),
        3 => Frame(Control, [5, (byte)(Connects ? 1 + _random.Next(5) : _random.Next(256)), 1, (byte)'x']), // Who connected goes on after 06 and 7F, natively it does not.
        4 => Frame(Control, [5, 1]),
        5 => Frame(Control, [2, 0, 0, 17]),
        6 => Frame(Control, [3]),
        _ => Frame((byte)_random.Next(256), Topic()),
    };

    private byte[][] Parts(char letter)
    {
        // A topic in a message that a cut leaves unfinished counts with us, natively it does not: publishers get several parts where nothing is cut.
        byte[][] parts = new byte[_random.Next(3) == 0 && (!Publishes || letter == 's' || !IsReadAtOnce) ? 1 + _random.Next(3) : 1][];
        for (int i = 0; i < parts.Length; i++)
        {
            string text = string.Create(CultureInfo.InvariantCulture, $"{(Publishes || Subscribes ? s_topics[_random.Next(s_topics.Length)] : "")}{letter}{_counter++}");
            parts[i] = _random.Next(10) switch
            {
                0 => [],
                1 => Encoding.ASCII.GetBytes(text + new string('x', 300)),
                _ => Encoding.ASCII.GetBytes(text),
            };
        }

        return parts;
    }

    private static byte[] Message(byte[][] parts) => [.. parts.SelectMany((part, i) => Frame(i + 1 < parts.Length ? More : (byte)0, part))];

    private byte[] Topic() => Encoding.ASCII.GetBytes(s_topics[_random.Next(s_topics.Length)]);

    private void Write(int peer, byte[] bytes)
    {
        int[] pieces = new int[_random.Next(4) == 0 ? 1 + _random.Next(4) : 0];
        for (int i = 0; i < pieces.Length; i++)
        {
            pieces[i] = 1 + _random.Next(bytes.Length);
        }

        _steps.Add(new WireStep.Write(peer, bytes, pieces, _peers[peer] == PeerState.Talking));
    }
}
