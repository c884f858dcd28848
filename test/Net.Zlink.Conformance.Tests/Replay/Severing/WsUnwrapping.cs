using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replay.Severing;

/// <summary>
/// A cut on ws, without the ws: what is left are the bytes that the protocol above gets. It gets them by whole frames: the reader below it
/// hands on what a frame holds when the frame is whole,
/// or has filled a buffer, which none does here that holds the end of a message in its middle.
/// </summary>
internal static class WsUnwrapping
{
    public static Severance Of(Severance severance)
    {
        Transcript transcript = severance.Transcript;
        Dictionary<int, Direction> directions = transcript.Actions.Where(
            action => action.Step <= severance.Step && action.Kind is ActionKind.Connect or ActionKind.Accept)
            .Select(action => action.Connection).Distinct()
            .ToDictionary(connection => connection, connection =>
                new Direction(IsUpgraded(transcript, connection), isMasked: transcript.Sides[severance.Implemented].Role is SideRole.Bind));
        PlayedBytes[] played = [.. severance.Played.Select(bytes => bytes with { Bytes = directions[bytes.Connection].Take(bytes.Bytes) })];
        return severance with
        {
            Transcript = transcript with
            {
                Records = [.. transcript.Records.Where(
                record => record.Close is not null || record.Payload is not null)
                .Select(record => record with { Bytes = record.Payload ?? [] })]
            },
            Played = [.. played.Where(bytes => bytes.Bytes.Length > 0)],
            NeverUp = directions.Where(direction => !direction.Value.IsUp).Select(direction => direction.Key).ToHashSet(),
        };
    }

    /// <summary>The answer of this connection, whoever gave it, said so.</summary>
    private static bool IsUpgraded(Transcript transcript, int connection)
        => transcript.Records.Any(record => record.Connection == connection && record.Http?.Status is 101);

    /// <summary>What the played side has sent on one connection.</summary>
    private sealed class Direction(bool isUpgraded, bool isMasked)
    {
        private readonly List<byte> _tail = [];
        private bool _isOver;

        /// <summary>Its head was whole, and nobody refused.</summary>
        public bool IsUp { get; private set; }

        public byte[] Take(byte[] bytes)
        {
            _tail.AddRange(bytes);
            if (!IsUp && isUpgraded && HttpHead.LengthOf([.. _tail]) is { } length)
            {
                IsUp = true;
                _tail.RemoveRange(0, length);
            }

            var payload = new List<byte>();
            while (IsUp && !_isOver)
            {
                byte[] left = [.. _tail];
                _isOver = WsFrame.IsBreach(left, isMasked);
                if (_isOver || WsFrame.TryRead(left) is not { } frame)
                {
                    break;
                }

                _isOver = frame.Opcode is WsOpcode.Close;
                payload.AddRange(frame.IsControl ? [] : frame.Payload);
                _tail.RemoveRange(0, frame.Size);
            }

            return [.. payload];
        }
    }
}
