using System.Text;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink;

/// <summary>Error messages have the names of fields, never values.</summary>
internal static class WebSocketRequestFields
{
    public const string SubProtocol = "Sec-WebSocket-Protocol";

    // With path and query of 16 KiB the request keeps to the 32 KiB that a listener of ours reads.
    private const int MaxLength = 15 * 1024;

    private static readonly string[] s_own = ["Host", "Upgrade", "Connection", "Content-Length", "Transfer-Encoding"];

    public static string Write(IDictionary<string, string> fields)
    {
        if (fields.Count == 0)
        {
            return "";
        }

        var text = new StringBuilder();
        foreach ((string name, string value) in fields)
        {
            if (!Ascii.IsValid(name) || !HttpHead.IsToken(Encoding.ASCII.GetBytes(name)))
            {
                throw Invalid($"\"{name}\" is no name of an HTTP field", fields);
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

    private static ArgumentException Invalid(string complaint, IDictionary<string, string> requestFields) =>
        new($"{nameof(WebSocketTransportOptions.RequestFields)}: {complaint}.", nameof(requestFields));
}
