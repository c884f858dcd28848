using System.Text;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink;

/// <summary>Error messages have the names of fields, never values.</summary>
internal static class WebSocketRequestFields
{
    public const string SubProtocol = UpgradeAnswer.SubProtocolField;

    // With path and query of 16 KiB the request keeps to the 32 KiB that a listener of ours reads.
    private const int MaxLength = 15 * 1024;

    private static readonly string[] s_own = ["Host", "Upgrade", "Connection", "Content-Length", "Transfer-Encoding"];

    public static string Write(IDictionary<string, string> fields, IList<string> subProtocols)
    {
        if (fields.Count == 0 && subProtocols.Count == 0)
        {
            return "";
        }

        var text = new StringBuilder();
        if (subProtocols.Count > 0)
        {
            Check(subProtocols, fields);
            text.Append(SubProtocol).Append(": ").AppendJoin(", ", subProtocols).Append("\r\n");
        }

        foreach ((string name, string value) in fields)
        {
            if (!IsToken(name))
            {
                throw Invalid($"\"{name}\" is not the name of an HTTP field", fields);
            }

            if (s_own.Contains(name, StringComparer.OrdinalIgnoreCase)
                || (name.StartsWith("Sec-WebSocket-", StringComparison.OrdinalIgnoreCase)
                && !string.Equals(name, SubProtocol, StringComparison.OrdinalIgnoreCase)))
            {
                throw Invalid($"the request has the field {name} already", fields);
            }

            if (value is null || value.Any(static c => c is (< ' ' and not '\t') or '\x7F' or > '\xFF'))
            {
                throw Invalid($"the value of {name} has a character that no HTTP field can have", fields);
            }

            text.Append(name).Append(": ").Append(value).Append("\r\n");
        }

        return text.Length <= MaxLength ? text.ToString()
            : throw Invalid($"the fields have {text.Length} characters; {MaxLength} is the most", fields);
    }

    private static void Check(IList<string> subProtocols, IDictionary<string, string> fields)
    {
        string? complaint = subProtocols.Any(static one => one is null || !IsToken(one)) ? "a name of a sub-protocol is an HTTP token"
            : subProtocols.Distinct(StringComparer.Ordinal).Count() != subProtocols.Count ? "a sub-protocol is named twice"
            : fields.ContainsKey(SubProtocol) ? $"{nameof(WebSocketTransportOptions.RequestFields)} has the field {SubProtocol}, too"
            : null;
        if (complaint is not null)
        {
            throw new ArgumentException($"{nameof(WebSocketTransportOptions.SubProtocols)}: {complaint}.", nameof(subProtocols));
        }
    }

    private static bool IsToken(string name) => Ascii.IsValid(name) && HttpHead.IsToken(Encoding.ASCII.GetBytes(name));

    private static ArgumentException Invalid(string complaint, IDictionary<string, string> requestFields) =>
        new($"{nameof(WebSocketTransportOptions.RequestFields)}: {complaint}.", nameof(requestFields));
}
